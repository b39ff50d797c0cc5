"""torchvision's own image models, untrained, under their own names."""

from typing import Any

from torch import nn

from torchspeed.models.registry import register_model

TORCHVISION_MODELS: dict[str, dict[str, Any]] = {
    "resnet18": {},
    "resnet34": {},
    "resnet50": {},
    "densenet121": {},
    # Without its two auxiliary heads, forward returns a tensor in either mode. Without
    # ``init_weights``, torchvision warns that the default may change.
    "googlenet": {"aux_logits": False, "init_weights": True},
    # 143 million parameters: drawing them a second time nearly doubles the wait.
    "vgg19": {"init_weights": False},
    "squeezenet1_1": {},
    "mobilenet_v3_large": {},
    "efficientnet_b0": {},
    "convnext_tiny": {},
}
"""Arguments that each model is made with, besides the number of classes."""


def _register(name: str, arguments: dict[str, Any]) -> None:
    @register_model(name)
    def make(num_classes: int = 1000) -> nn.Module:
        import torchvision  # noqa: PLC0415 - a second, on first use only

        model: nn.Module = torchvision.models.get_model(
            name, weights=None, num_classes=num_classes, **arguments
        )
        return model


for _name, _arguments in TORCHVISION_MODELS.items():
    _register(_name, _arguments)
