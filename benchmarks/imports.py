"""What importing costs before any model exists: memory figures are read against it."""

from importlib import import_module


class Imports:
    """A process that imports a package and does nothing else."""

    version = "1"
    params = (["torch", "torchvision"],)
    param_names = ("package",)

    def peakmem_import(self, package):
        """Peak resident memory of a process that only imports, in bytes."""
        import_module(package)
