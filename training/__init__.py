"""Training, calibration and export of bundles."""

import os

# Or ONNX Runtime sends data about the machine and the graphs to its maker.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
