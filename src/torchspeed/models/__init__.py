"""The models that are measured: one file each, which registers itself when it is imported.

``create_model("darnn")`` makes a model as its source configured it. The files here write
models as their papers do, in torch's own layers; those of ``tuned`` compute the same function
of the same parameters faster on a CPU. Importing this package imports torch but not torchvision,
which takes a second: that happens when the first model built on it is made.

Forecasters have ``features`` series in a ``window`` of time steps, ``horizon`` steps of forecast,
and a ``dropout``: a probability, in training mode. Models with attention have tokens of a
``width``, which their ``heads`` divide, a number of ``layers``, and networks whose hidden layers
have the size ``inner``. A size below 1, a dropout outside [0, 1), and what a class says of its
other arguments, is a ValueError of ``create_model``.

The models with attention have a method ``attention_weights(x)``, which returns a
dictionary of the weights that ``forward`` used. ``forward`` itself pays nothing for it.
"""

from importlib import import_module
from pkgutil import walk_packages

from torchspeed.models.fastest import Fastest, Implementation
from torchspeed.models.registry import (
    create_model,
    list_arguments,
    list_implementations,
    list_models,
    register_model,
)

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)  # registers its models

__all__ = [
    "Fastest",
    "Implementation",
    "create_model",
    "list_arguments",
    "list_implementations",
    "list_models",
    "register_model",
]
