"""Models and devices that several suites measure, each list written once."""

DEVICES = ["cpu", "cuda"]

TIME_SERIES = ["darnn", "dsanet", "lstnet", "tpa_lstm"]
FLUX_LITERAL = [f"{model}_flux_literal" for model in TIME_SERIES]
SMALL_CNNS = ["flux_cnn", "lenet5", "resnet18_mnist"]
TORCHVISION = ["resnet18", "resnet34", "resnet50", "densenet121", "googlenet", "vgg19"]
TORCHVISION += ["squeezenet1_1"]

SOLAR = [f"{model}_solar" for model in TIME_SERIES]
SOLAR_LITERAL = [f"{model}_solar_literal" for model in TIME_SERIES]
