"""Training, calibration and export of bundles."""

import os

# Without it the telemetry of ONNX Runtime sends data about machine and graphs to Microsoft.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
