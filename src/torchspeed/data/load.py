"""Opens a data set by its name, imports a user's own, and makes batches of one."""

import math
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset

from torchspeed.data import embedded
from torchspeed.data.dataset import Data
from torchspeed.data.options import CSV_PREFIX, DataOptions, kind_of
from torchspeed.data.series import Windows
from torchspeed.errors import TorchspeedError

OWN_LOADER = {
    "digits": embedded.load_digits,
    "el_nino": embedded.load_el_nino,
    "lorenz": embedded.load_lorenz,
    "eeg": embedded.load_eeg,
    "dummy": embedded.load_dummy,
}


def load_data(name: str, options: DataOptions) -> Data:
    """Open a data set of `DATA`, ``csv:FILE``, or ``package.module:callable``.

    Raises:
        TorchspeedError: unknown name, or an error of the set's own loader.
    """
    kind = kind_of(name)
    if kind == "imported":
        data = import_callable(name)(options)
        if not isinstance(data, Data):
            raise TorchspeedError(
                f"{name} returned {type(data).__name__}, not a torchspeed.data.dataset.Data"
            )
        return data
    if name in OWN_LOADER:
        return OWN_LOADER[name](options)
    # pandas and torchvision are optional and slow to import; the other sets do without.
    if kind == "series":
        from torchspeed.data.files import load_csv, load_published  # noqa: PLC0415

        if name.startswith(CSV_PREFIX):
            return load_csv(Path(name.removeprefix(CSV_PREFIX)), options)
        return load_published(name, options)
    from torchspeed.data.images import load_images, load_pictures  # noqa: PLC0415

    return load_pictures(options) if name == "imagenet" else load_images(name, options)


def import_callable(path: str) -> Callable[..., Any]:
    """Import ``package.module:callable``; the working folder is searched first.

    Raises:
        TorchspeedError: no such module, or nothing in it that can be called.
    """
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        candidate = pkgutil.resolve_name(path)
    except (ImportError, AttributeError, ValueError) as error:
        raise TorchspeedError(
            f"{path}: {error}; give package.module:callable, importable from here"
        ) from None
    if not callable(candidate):
        raise TorchspeedError(f"{path} cannot be called; give package.module:callable")
    made: Callable[..., Any] = candidate
    return made


def make_loader(
    dataset: Dataset[Any],
    batch_size: int,
    *,
    workers: int = 0,
    sampler: Iterable[int] | None = None,
    pin_memory: bool = False,
) -> DataLoader[Any]:
    """Return a loader of batches ``(inputs, targets)``, shuffled unless a sampler is given.

    The seed of its ``generator`` alone decides the order: ``loader.generator.manual_seed(seed +
    epoch)`` before each epoch gives a resumed run the batches that it would have seen. Without
    workers this process loads. `Windows` are always loaded so: they are in memory, and a worker
    would only copy each batch once more.
    """
    in_memory = isinstance(dataset, Windows)
    workers = 0 if in_memory else workers
    generator = torch.Generator().manual_seed(0)
    order: dict[str, Any] = {"batch_size": batch_size, "sampler": sampler}
    if sampler is None:
        items = len(dataset)  # type: ignore[arg-type]
        order = {"batch_sampler": _Shuffled(items, batch_size, generator, not in_memory)}
    return DataLoader(
        dataset,
        **order,
        num_workers=workers,
        collate_fn=(lambda batch: batch) if in_memory else None,
        pin_memory=pin_memory,
        generator=generator,
        persistent_workers=workers > 0,
    )


@dataclass(frozen=True, slots=True)
class _Shuffled:
    """Batches of all indices, in an order that the seed of a generator alone decides.

    `RandomSampler` goes on from the generator's state, which is another one if workers have just
    been started. `BatchSampler` takes indices one by one, twice the time of copying small windows.
    """

    items: int
    batch_size: int
    generator: torch.Generator
    as_lists: bool

    def __len__(self) -> int:
        return math.ceil(self.items / self.batch_size)

    def __iter__(self) -> Iterator[Any]:
        generator = torch.Generator().manual_seed(self.generator.initial_seed())
        order = torch.randperm(self.items, generator=generator).numpy()
        for first in range(0, self.items, self.batch_size):
            batch = order[first : first + self.batch_size]
            yield batch.tolist() if self.as_lists else batch


@contextmanager
def naming_worker_errors() -> Iterator[None]:
    """Report in one line a loading worker that died, or the file that it could not read.

    torch raises the former from a signal handler, so any line can raise it while workers live.
    The message of the latter is a whole traceback.
    """
    try:
        yield
    except TorchspeedError as error:
        raise TorchspeedError(str(error).rsplit("TorchspeedError: ", 1)[-1].strip()) from None
    except RuntimeError as error:
        if "DataLoader worker" not in str(error):
            raise
        raise TorchspeedError(
            f"a data-loading worker died ({str(error).splitlines()[0]}); use fewer --workers "
            "or a smaller --batch-size, or give it more memory"
        ) from None
