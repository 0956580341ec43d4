"""The small file beside a definition that says which ledger sent, and how far it had got.

Provides the receipt (receipt.py compares it with a ledger), and what people accepted that does not
fit. Before anything is sent, tasks/plan/receipts.py has them compared.
"""
