"""One step each: a thin Prefect shell over a plain function."""
