"""1.1: a name as it is compared, each service in its one spelling, the mark of the ledger."""

import sqlalchemy as sa
from alembic import op

from config.settings import spelled
from data.campaigns.people import name_key
from data.store.tables import CAMPAIGN, PACE, PERSON

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add `person.name_key` with its index and `ledger.mark`; spell the services of campaigns."""
    op.add_column("ledger", sa.Column("mark", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("person", sa.Column("name_key", sa.String(), nullable=False, server_default=""))
    connection = op.get_bind()
    this = PERSON.c.id == sa.bindparam("number")
    named = sa.update(PERSON).where(this).values(name_key=sa.bindparam("name"))
    people = connection.execute(sa.select(PERSON.c.id, PERSON.c.fields)).all()
    names = [{"number": number, "name": name_key(fields or {})} for number, fields in people]
    if names:
        connection.execute(named, names)
    op.drop_index("person_gone", "person")
    op.create_index(
        "person_gone",
        "person",
        ["campaign_id", "name_key"],
        sqlite_where=sa.text("listed = 0"),
        postgresql_where=sa.text("NOT listed"),
    )
    for number, service in connection.execute(sa.select(CAMPAIGN.c.id, CAMPAIGN.c.service)).all():
        alike = sa.update(CAMPAIGN).where(CAMPAIGN.c.id == number).values(service=spelled(service))
        connection.execute(alike)
    connection.execute(sa.delete(PACE))  # by service; no pause lasts longer than ten minutes
