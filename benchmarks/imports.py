"""Peak memory of importing alone: the baseline for the peak memory of models."""

from importlib import import_module

from ._suite import _Suite


class Imports(_Suite):
    """A process that imports a package and does nothing else."""

    params = (["torch", "torchvision"],)
    param_names = ("package",)

    def peakmem_import(self, package: str) -> None:
        """Peak resident memory of a process that only imports, in bytes."""
        import_module(package)
