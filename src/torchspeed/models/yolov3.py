"""YOLO v3 and tiny YOLO v3, which find objects in images as boxes."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from torchspeed.models.checks import check_input
from torchspeed.models.registry import register_model

OVERLAP = 0.8
"""Intersection over union above which the worse box is suppressed, as in FluxBench."""
ANCHORS = {
    "yolov3": (
        ((116, 90), (156, 198), (373, 326)),
        ((30, 61), (62, 45), (59, 119)),
        ((10, 13), (16, 30), (33, 23)),
    ),
    "yolov3_tiny": (((81, 82), (135, 169), (344, 319)), ((10, 14), (23, 27), (37, 58))),
}
"""Width and height of each head's three boxes, in pixels, coarsest head first, from Darknet."""


def convolution(inputs: int, outputs: int, size: int, stride: int = 1) -> nn.Sequential:
    """Return a convolution, batch norm and leaky relu: size^2 x in x out + 2 x out parameters."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False),
        nn.BatchNorm2d(outputs),
        nn.LeakyReLU(0.1),
    )


def five_convolutions(inputs: int, width: int) -> nn.Sequential:
    """Return the convolutions before a head, 1, 3, 1, 3, 1 pixels wide, to ``width`` channels."""
    return nn.Sequential(
        convolution(inputs, width, 1),
        convolution(width, 2 * width, 3),
        convolution(2 * width, width, 1),
        convolution(width, 2 * width, 3),
        convolution(2 * width, width, 1),
    )


class Residual(nn.Module):
    """Two convolutions with a residual connection."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.narrow = convolution(channels, channels // 2, 1)
        self.wide = convolution(channels // 2, channels, 3)

    def forward(self, x: Tensor) -> Tensor:
        """Map (batch, channels, height, width) to the same shape."""
        return x + self.wide(self.narrow(x))  # type: ignore[no-any-return]


class Head(nn.Module):
    """Predicts three boxes for each cell of an image."""

    def __init__(self, inputs: int, width: int, classes: int, anchors: Sequence[object]) -> None:
        super().__init__()
        self.wide = convolution(inputs, width, 3)
        self.boxes = nn.Conv2d(width, 3 * (5 + classes), 1)
        self.register_buffer("anchors", torch.tensor(anchors, dtype=torch.float32), False)

    anchors: Tensor

    def forward(self, x: Tensor, image_size: int) -> Tensor:
        """Map (batch, inputs, cells, cells) to boxes (batch, 3 x cells^2, 4 + classes).

        A box is its left, top, right and lower edge, in pixels, and its score of each class.
        """
        t = self.boxes(self.wide(x)).unflatten(1, (3, -1)).permute(0, 3, 4, 1, 2)
        cells = t.shape[1]
        stride = image_size // cells
        offsets = torch.arange(cells, dtype=t.dtype, device=t.device)
        corner = torch.stack(torch.meshgrid(offsets, offsets, indexing="xy"), 2).unsqueeze(2)
        centre = (t[..., :2].sigmoid() + corner) * stride  # b_x, b_y of section 2.1
        half = self.anchors * t[..., 2:4].exp() / 2  # b_w, b_h
        scores = t[..., 4:5].sigmoid() * t[..., 5:].sigmoid()  # object, and class if it is one
        return torch.cat((centre - half, centre + half, scores), 4).flatten(1, 3)


def suppress(boxes: Tensor, candidates: int) -> Tensor:
    """Keep the best boxes of each image that no better one of their class overlaps (`OVERLAP`).

    Args:
        boxes: (batch, boxes, 4 + classes).
        candidates: boxes of each image that are considered, those with the best scores.

    Returns:
        (batch, candidates, 6): edges, score and class of a box, best first, or zeros.
    """
    from torchvision.ops import batched_nms  # noqa: PLC0415 - a second, on first use only

    batch, _, columns = boxes.shape
    best, class_of = boxes[:, :, 4:].max(2)
    score, index = best.topk(candidates, 1)
    edges = boxes[:, :, :4].gather(1, index.unsqueeze(2).expand(-1, -1, 4))
    kind = class_of.gather(1, index)
    image = torch.arange(batch, device=boxes.device).unsqueeze(1)
    groups = (kind + image * (columns - 4)).flatten()  # boxes of other images or classes stay
    kept = batched_nms(edges.detach().flatten(0, 1), score.detach().flatten(), groups, OVERLAP)
    keeps = torch.zeros_like(groups, dtype=boxes.dtype).index_fill(0, kept, 1)
    rows = torch.cat((edges, score.unsqueeze(2), kind.unsqueeze(2).to(boxes.dtype)), 2)
    return rows * keeps.view(batch, -1, 1)


class Detector(nn.Module):
    """The common part of both detectors: image size, decoding and suppression of boxes."""

    def __init__(self, image_size: int, classes: int, candidates: int) -> None:
        super().__init__()
        if image_size % 32:
            raise ValueError(f"image_size must be a multiple of 32, got {image_size}")
        self.image_size = image_size
        self.candidates = candidates
        self.heads = nn.ModuleList()

    def forward(self, x: Tensor) -> Tensor:
        """Return the boxes of each image, (batch, candidates, 6): edges, score, class or zeros."""
        shape = (3, self.image_size, self.image_size)
        check_input(x, "batch, channels, height, width", shape, next(self.parameters()))
        features = self.features(x)
        heads = zip(self.heads, features, strict=True)
        boxes = torch.cat([head(part, self.image_size) for head, part in heads], 1)
        return suppress(boxes, self.candidates)

    def features(self, x: Tensor) -> list[Tensor]:
        """Return what each head reads, the coarsest first."""
        raise NotImplementedError


@register_model("yolov3")
class YOLOv3(Detector):
    """Darknet-53 with three heads.

    J. Redmon and A. Farhadi, "YOLOv3: An Incremental Improvement", 2018, arXiv:1804.02767:
    residual convolutions (table 1 without its last three lines), boxes at three scales with
    upsampled features (section 2.3), and b = (sigmoid(t_x) + c_x, sigmoid(t_y) + c_y,
    p_w e^t_w, p_h e^t_h) (section 2.1). The best 300 boxes of an image are considered, and those
    that overlap a better one of their class by more than 0.8 are suppressed; FluxBench takes all
    whose score is above 0.5, of which a network with random weights has none or thousands.

    Maps (batch, 3, size, size) to (batch, candidates, 6). 61,949,149 parameters.

    Args:
        image_size: height and width of images, a multiple of 32.
        classes: kinds of objects; 80 in COCO.
        candidates: boxes of an image that are looked at.
    """

    def __init__(self, *, image_size: int = 608, classes: int = 80, candidates: int = 300) -> None:
        super().__init__(image_size, classes, candidates)
        self.stem = convolution(3, 32, 3)
        self.stages = nn.ModuleList(
            nn.Sequential(
                convolution(width // 2, width, 3, stride=2), *(Residual(width) for _ in range(n))
            )
            for width, n in ((64, 1), (128, 2), (256, 8), (512, 8), (1024, 4))
        )
        necks = ((1024, 512), (512 + 256, 256), (256 + 128, 128))
        self.necks = nn.ModuleList(five_convolutions(*channels) for channels in necks)
        self.narrow = nn.ModuleList([convolution(512, 256, 1), convolution(256, 128, 1)])
        self.upsample = nn.Upsample(scale_factor=2)
        self.heads.extend(
            Head(width, 2 * width, classes, anchors)
            for width, anchors in zip((512, 256, 128), ANCHORS["yolov3"], strict=True)
        )

    def features(self, x: Tensor) -> list[Tensor]:
        """Return 512, 256 and 128 channels at a 32nd, 16th and 8th of the image's size."""
        x = self.stem(x)
        scales = []
        for stage in self.stages:
            x = stage(x)
            scales.append(x)
        outputs = [self.necks[0](scales[4])]
        for neck, narrow, scale in zip(self.necks[1:], self.narrow, (3, 2), strict=True):
            finer = self.upsample(narrow(outputs[-1]))
            outputs.append(neck(torch.cat((finer, scales[scale]), 1)))
        return outputs


@register_model("yolov3_tiny")
class YOLOv3Tiny(Detector):
    """The small YOLO v3 of Darknet's ``yolov3-tiny.cfg``, with two heads.

    Convolutions alternate with pooling in place of residual blocks; boxes are those of `YOLOv3`.
    Maps (batch, 3, size, size) to (batch, candidates, 6). 8,852,366 parameters.

    Arguments and errors are those of `YOLOv3`.
    """

    def __init__(self, *, image_size: int = 416, classes: int = 80, candidates: int = 300) -> None:
        super().__init__(image_size, classes, candidates)
        pool = nn.MaxPool2d(2)
        self.fine = nn.Sequential(convolution(3, 16, 3))
        for width in (32, 64, 128, 256):
            self.fine.extend([pool, convolution(width // 2, width, 3)])
        self.coarse = nn.Sequential(
            pool,
            convolution(256, 512, 3),
            nn.ReplicationPad2d((0, 1, 0, 1)),  # the next maximum is taken at every cell
            nn.MaxPool2d(2, stride=1),
            convolution(512, 1024, 3),
            convolution(1024, 256, 1),
        )
        self.narrow = nn.Sequential(convolution(256, 128, 1), nn.Upsample(scale_factor=2))
        coarse, fine = ANCHORS["yolov3_tiny"]
        self.heads.extend([Head(256, 512, classes, coarse), Head(128 + 256, 256, classes, fine)])

    def features(self, x: Tensor) -> list[Tensor]:
        """Return 256 and 384 channels at a 32nd and a 16th of the image's size."""
        fine = self.fine(x)
        coarse = self.coarse(fine)
        return [coarse, torch.cat((self.narrow(coarse), fine), 1)]
