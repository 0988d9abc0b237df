"""The answers of the API, written by scripts/write-python-types.mjs from openapi/openapi.yaml."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class Comparison(TypedDict):
    id: str
    camera: str | None
    status: Literal["queued", "running", "finished", "failed", "cancelled"]
    created_at: str
    finished_at: str | None
    verdict: NotRequired[Literal["none", "nuisance", "change", "tamper"]]
    kind: NotRequired[Literal["none", "appear", "disappear", "move", "replace", "multi"]]
    nuisance: NotRequired[list[Nuisance]]
    tamper: NotRequired[list[Tamper]]
    caption: NotRequired[str]
    caption_score: NotRequired[float]
    words: NotRequired[list[Word]]
    content: NotRequired[ComparisonContent]
    confidence: NotRequired[float]
    severity: NotRequired[Literal["info", "low", "medium", "high"]]
    regions: NotRequired[list[Region]]
    notes: NotRequired[list[str]]
    check: NotRequired[Check]
    lost: NotRequired[Lost]
    lens: NotRequired[LensCover]
    model: NotRequired[ModelUsed | None]
    viewpoint: NotRequired[Viewpoint | Viewpoint2]
    camera_frame: NotRequired[CameraFrame]
    heatmaps: NotRequired[ComparisonHeatmaps]
    frames: NotRequired[ComparisonFrames]
    timings_ms: NotRequired[TimingsMs]
    error: NotRequired[Problem]
    metadata: NotRequired[Any]


class Nuisance(TypedDict):
    name: str
    score: float


class Tamper(TypedDict):
    name: Literal[
        "blocked",
        "defocused",
        "darkened",
        "turned",
        "covered",
        "signal_lost",
        "picture_damaged",
        "foreign_picture",
    ]
    score: float


class Word(TypedDict):
    text: str
    score: float


class ComparisonContent(TypedDict):
    statements: list[StatementContent]
    more: int


class StatementContent(TypedDict):
    kind: Literal["appear", "disappear", "move", "replace", "change", "none", "tamper"]
    verb: str
    things: list[StatementContentThingsItem]
    place: str | None
    way: str | None
    ended_after_s: NotRequired[float | None]


class StatementContentThingsItem(TypedDict):
    noun: str
    colour: str | None
    count: int | None
    definite: bool
    garment: NotRequired[str]
    parts: NotRequired[list[StatementContentThingsItemPartsItem]]


class StatementContentThingsItemPartsItem(TypedDict):
    count: int | None
    colour: str


class Region(TypedDict):
    id: int
    side: Literal["before", "after"]
    box: Box
    area: float
    score: float
    scene: NotRequired[float]
    zone: NotRequired[str]


class Box(TypedDict):
    x: float
    y: float
    width: float
    height: float


class Check(TypedDict):
    score: float | None
    clauses: list[CheckClausesItem]


class CheckClausesItem(TypedDict):
    text: str
    p: float
    facts: SentenceFacts
    regions: list[int]


class SentenceFacts(TypedDict):
    action: float | None
    noun: float | None
    colour: float | None
    place: float | None
    count: float | None


class Lost(TypedDict):
    side: Literal["before", "after"]
    boxes: list[Box]
    share: float
    reason: Literal["signal_lost", "picture_damaged"]


class LensCover(TypedDict):
    share: float
    boxes: list[Box]


class ModelUsed(TypedDict):
    name: str
    version: str
    sha256: str
    provider: str


class Viewpoint(TypedDict):
    moved: bool
    shift_px: float
    rotation_deg: float
    scale: float
    overlap: float
    inliers: int
    residual_px: float


class Viewpoint2(TypedDict):
    refused: Literal["too_small", "shape", "before_featureless", "after_featureless", "no_common_view"]
    detail: str


class CameraFrame(TypedDict):
    captured_at: str
    before: CameraFrameBefore | None
    notes: list[CameraFrameNotesItem]
    nothing_new_since: NotRequired[CameraFrameNothingNewSince]
    pending: NotRequired[list[PendingChange]]


class CameraFrameBefore(TypedDict):
    mode: Literal["previous", "reference", "memory"]
    captured_at: str | None


class CameraFrameNotesItem(TypedDict):
    code: Literal[
        "first_frame",
        "before_lost",
        "mask_changed",
        "size_changed",
        "view_changed",
        "gap",
        "duplicate",
        "out_of_order",
        "other_light",
        "regions_left_out",
        "baseline_set",
        "baseline_reset",
        "frozen",
    ]
    detail: str


class CameraFrameNothingNewSince(TypedDict):
    comparison: str
    captured_at: str


class PendingChange(TypedDict):
    first_seen: str
    frames: int
    confirm_frames: int
    detail: str


class ComparisonHeatmaps(TypedDict):
    before: ComparisonHeatmapsBefore
    after: ComparisonHeatmapsAfter


class ComparisonHeatmapsBefore(TypedDict):
    url: str


class ComparisonHeatmapsAfter(TypedDict):
    url: str


class ComparisonFrames(TypedDict):
    before: NotRequired[ComparisonFramesBefore]
    after: ComparisonFramesAfter


class ComparisonFramesBefore(TypedDict):
    url: str


class ComparisonFramesAfter(TypedDict):
    url: str


class TimingsMs(TypedDict):
    queue: float
    fetch: float
    decode: float
    quiet: NotRequired[float]
    register: float
    encode: float
    caption: float
    heatmap: float
    total: float


class Problem(TypedDict):
    type: str
    title: str
    status: int
    detail: str
    field: NotRequired[str]


class Change(TypedDict):
    id: str
    camera: str
    zone: str | None
    kind: Literal["appear", "disappear", "move", "replace", "tamper"]
    caption: str
    model_caption: NotRequired[str]
    content: NotRequired[StatementContent]
    ended: NotRequired[ChangeEnded]
    object: NotRequired[ChangeObject]
    judged: NotRequired[list[ChangeJudgedItem]]
    confidence: float
    status: Literal["opened", "persisting", "reverted", "acknowledged"]
    severity: Literal["info", "low", "medium", "high"]
    first_seen: str
    confirmed_at: str
    last_seen: str
    settled_at: str | None
    reverted_at: str | None
    alerted_at: str | None
    suppressed_count: int
    regions: list[ChangeRegion]
    last_regions: NotRequired[list[ChangeRegion]]
    comparisons: ChangeComparisons
    acknowledged_at: str | None
    feedback: Feedback | None


class ChangeEnded(TypedDict):
    caption: str
    content: StatementContent


class ChangeObject(TypedDict):
    value: Literal["object_left", "object_removed"]
    since: str
    at: str
    probability: float
    owner: ChangeObjectOwner | None


class ChangeObjectOwner(TypedDict):
    comparison: str
    at: str
    box: Box


class ChangeJudgedItem(TypedDict):
    when: str
    p: float


class ChangeRegion(TypedDict):
    side: Literal["before", "after"]
    box: Box
    area: float
    score: float
    scene: NotRequired[float]
    zone: str | None


class ChangeComparisons(TypedDict):
    first: str
    best: str
    last: str


class Feedback(TypedDict):
    judgement: Literal["correct", "false_alarm"]
    caption: NotRequired[str]
    at: str
    by: NotRequired[str]


class StreamEvent(TypedDict):
    type: str
    camera: str | None
    at: str
    subject: Subject
    kind: str | None
    severity: Literal["info", "low", "medium", "high"] | None
    zone: str | None
    caption: str | None
    data: dict[str, Any]


class Subject(TypedDict):
    kind: Literal["comparison", "change", "visit", "camera", "endpoint", "batch"]
    id: str
