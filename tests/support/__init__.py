"""What tests share: campaigns, documents, a terminal, a web hook, a service that answers as told.

Provides helpers; knows no test.
"""
