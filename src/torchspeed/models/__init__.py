"""The models that are measured: a file each, and the table of their names.

``create_model("darnn")`` makes a model as its source configured it. Importing this
package imports torch but not torchvision, which takes a second: that happens when
the first model built on it is made.

The models with attention have a method ``attention_weights(x)``, which returns a
dictionary of what ``forward`` weighed with. ``forward`` itself pays nothing for it.
"""

# Importing a model's file enters it in the table.
from torchspeed.models.darnn import DARNN
from torchspeed.models.darnn_flux_literal import DARNNFluxLiteral
from torchspeed.models.dsanet import DSANet
from torchspeed.models.dsanet_flux_literal import DSANetFluxLiteral
from torchspeed.models.flux_cnn import FluxCNN
from torchspeed.models.lenet5 import LeNet5
from torchspeed.models.lstnet import LSTNet
from torchspeed.models.lstnet_flux_literal import LSTNetFluxLiteral
from torchspeed.models.registry import create_model, list_models, register_model
from torchspeed.models.resnet18_mnist import ResNet18MNIST
from torchspeed.models.torchvision_models import TORCHVISION_MODELS
from torchspeed.models.tpa_lstm import TPALSTM
from torchspeed.models.tpa_lstm_flux_literal import TPALSTMFluxLiteral

__all__ = [
    "DARNN",
    "TORCHVISION_MODELS",
    "TPALSTM",
    "DARNNFluxLiteral",
    "DSANet",
    "DSANetFluxLiteral",
    "FluxCNN",
    "LSTNet",
    "LSTNetFluxLiteral",
    "LeNet5",
    "ResNet18MNIST",
    "TPALSTMFluxLiteral",
    "create_model",
    "list_models",
    "register_model",
]
