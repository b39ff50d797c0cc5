"""The storage of sweeps: one of Optuna's, which any number of workers share."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import optuna
import sqlalchemy
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend, JournalFileSymlinkLock
from sqlalchemy import event
from sqlalchemy.exc import IntegrityError, ProgrammingError

from torchspeed.errors import TorchspeedError

SECONDS_TO_OPEN = 60.0
"""Workers that start at once may conflict while they create the tables, and try again."""


_JOURNAL_START = b'{"op_code":'


def open_study(storage: str, name: str, *, create: bool = True) -> optuna.Study:
    """Open the study of a name, or begin it if ``create``; a storage holds any number of studies.

    A storage is a journal file, which may lie in a folder that several machines share, or a
    database's address: ``sqlite:///FILE``, ``postgresql://HOST/DATABASE``.

    Raises:
        TorchspeedError: the storage cannot be reached or read, or there is no such study.
    """
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    opened = _database(storage) if "://" in storage else _journal(Path(storage), create=create)
    try:
        if create:
            return optuna.create_study(study_name=name, storage=opened, load_if_exists=True)
        return optuna.load_study(study_name=name, storage=opened)
    except KeyError:
        raise TorchspeedError(f"{storage} has no sweep {name!r}; give another --name") from None
    except (ValueError, TypeError):
        raise TorchspeedError(
            f"{storage} is damaged or not a journal of Optuna; give another file"
        ) from None


def _journal(file: Path, *, create: bool) -> BaseStorage:
    if not create and not file.exists():
        raise TorchspeedError(f"no file {file}; give one that a sweep wrote")
    if not file.parent.is_dir():
        raise TorchspeedError(f"no folder {file.parent} for {file.name}; make it first")
    lock = JournalFileSymlinkLock(str(file))
    if file.exists() and file.stat().st_size:
        _check_journal(file, lock)
    return JournalStorage(JournalFileBackend(str(file), lock))


def _check_journal(file: Path, lock: JournalFileSymlinkLock) -> None:
    """Refuse another kind of file, and remove a last line that a full disk cut short.

    Optuna would write to such a file, and could not read what follows a line that was cut.
    """
    with file.open("rb") as stream:
        start = stream.read(len(_JOURNAL_START))
    if not start.startswith(_JOURNAL_START):
        raise TorchspeedError(f"{file} is not a journal of Optuna; it was left as it is")
    lock.acquire()
    try:
        content = file.read_bytes()
        if not content.endswith(b"\n"):
            os.truncate(file, content.rfind(b"\n") + 1)
    finally:
        lock.release()


def _database(address: str) -> BaseStorage:
    # SQLAlchemy's own choice for PostgreSQL is the older driver.
    address = address.replace("postgresql://", "postgresql+psycopg://", 1)
    deadline = time.monotonic() + SECONDS_TO_OPEN
    while True:
        try:
            storage = RDBStorage(address)
            break
        except ImportError as error:
            raise TorchspeedError(
                f"{address} cannot be opened ({error}); PostgreSQL needs the Python package "
                "psycopg: pip install 'psycopg[binary]'"
            ) from None
        except (sqlalchemy.exc.SQLAlchemyError, ValueError) as error:
            conflict = isinstance(error, IntegrityError | ProgrammingError) or any(
                text in str(error) for text in ("already exists", "is locked")
            )
            if not conflict or time.monotonic() > deadline:
                reason = str(error).splitlines()[0]
                raise TorchspeedError(
                    f"the database cannot be opened ({reason}); check its address, and whether it "
                    "runs"
                ) from None
            time.sleep(random.uniform(0.1, 1))  # noqa: S311 - no secret
    if storage.engine.name == "sqlite":
        _lock_when_a_transaction_begins(storage.engine)
    return storage


def _lock_when_a_transaction_begins(engine: sqlalchemy.Engine) -> None:
    """Lock a SQLite file when a transaction begins, so that no two workers take one point."""

    @event.listens_for(engine, "connect")
    def _leave_transactions_to_us(connection: object, _record: object) -> None:
        connection.isolation_level = None  # type: ignore[attr-defined]

    @event.listens_for(engine, "begin")
    def _begin(connection: sqlalchemy.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
