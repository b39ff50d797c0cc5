"""Models and devices that several suites measure, each list written once."""

DEVICES = ["cpu", "cuda"]

TIME_SERIES = ["darnn", "dsanet", "lstnet", "tpa_lstm"]
FORECASTERS = ["dlinear", "nhits", "tcn", "deepar", "patchtst", "itransformer", "tsmixer"]
FORECASTERS += ["timesnet", "encoder_decoder"]
PRETRAINED = ["chronos_bolt", "timesfm", "mamba"]
REAL_SIZES = ["dlinear_720_321", "patchtst_720_321", "itransformer_720_321", "tsmixer_720_321"]
REAL_SIZES += ["dlinear_512_862", "patchtst_512_862", "itransformer_512_862", "tsmixer_512_862"]
FLUX_LITERAL = ["darnn_flux_literal", "dsanet_flux_literal"]
FLUX_LITERAL += ["lstnet_flux_literal", "tpa_lstm_flux_literal"]
SMALL_CNNS = ["flux_cnn", "lenet5", "resnet18_mnist"]
TUNED_CNNS = ["flux_cnn", "lenet5"]  # nobody reformulated resnet18_mnist
PLAIN = TIME_SERIES + SMALL_CNNS + FORECASTERS
TORCHVISION = ["resnet18", "resnet34", "resnet50", "densenet121", "googlenet", "vgg19"]
TORCHVISION += ["squeezenet1_1", "mobilenet_v3_large", "efficientnet_b0", "convnext_tiny"]
DETECTORS = ["yolov3", "yolov3_tiny"]
TRANSFORMERS = ["transformer_encoder", "bert_base_8", "bert_base_32", "bert_base_128"]
GRAPH_NETWORKS = ["gcn_16", "gcn_32"]

SOLAR = ["darnn_solar", "dsanet_solar", "lstnet_solar", "tpa_lstm_solar"]
SOLAR_LITERAL = ["darnn_solar_literal", "dsanet_solar_literal"]
SOLAR_LITERAL += ["lstnet_solar_literal", "tpa_lstm_solar_literal"]
