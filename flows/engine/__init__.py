"""Everything that depends on how Prefect behaves; read it again at each upgrade.

It is not named after Prefect: where Prefect loads a flow, this folder's parent comes first on the
path, and a room of that name would hide the library.
"""
