"""What goes over the wire: operations, shapes, answers, and who may ask."""
