"""Which mailbox an address delivers to: whoever has it is held at another address as well."""

import sqlalchemy as sa
from alembic import op

from data.store.tables import box_of

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    connection = op.get_bind()
    box = sa.Column("box", sa.String(), nullable=False, server_default="")
    op.add_column("forgotten", box)
    for name in ("candidate", "do_not_contact"):
        op.add_column(name, sa.Column("mailbox", sa.String(), nullable=False, server_default=""))
        table = sa.table(name, sa.column("id"), sa.column("email_key"), sa.column("mailbox"))
        # Whoever was forgotten has a hash here, which is no address.
        rows = connection.execute(sa.select(table.c.id, table.c.email_key))
        boxes = [{"row": id, "box": box_of(key)} for id, key in rows if "@" in key]
        if boxes:
            connection.execute(
                sa.update(table)
                .where(table.c.id == sa.bindparam("row"))
                .values(mailbox=sa.bindparam("box")),
                boxes,
            )
    op.create_index("same_mailbox", "do_not_contact", ["mailbox"])
    op.drop_index("same_person", "candidate")
    op.create_index("same_person", "candidate", ["mailbox"])
