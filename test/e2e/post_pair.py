"""A client made by openapi-python-client, as package `scenedelta_client`, run by test/e2e/python-client.test.ts.

Its arguments: address of the service, API key, two image files. Prints what it received as one line of JSON.
"""

import base64
import json
import sys
from pathlib import Path

from scenedelta_client import AuthenticatedClient
from scenedelta_client.api.cameras import put_camera
from scenedelta_client.api.comparisons import create_comparison
from scenedelta_client.models import CameraRequest, ComparisonForm, ComparisonRequest, FrameBase64
from scenedelta_client.types import File

url, key, *files = sys.argv[1:]
before, after = (Path(file).read_bytes() for file in files)
client = AuthenticatedClient(base_url=url, token=key)


def post(body):
    return create_comparison.sync_detailed(client=client, body=body, prefer="wait=30")


def encode(frame):
    return base64.b64encode(frame).decode()


as_json = post(
    ComparisonRequest(
        before=FrameBase64(base64=encode(before)), after=encode(after), camera="gate-3", metadata={"ticket": 7}
    )
)
as_form = post(
    ComparisonForm(
        before=File(payload=before, file_name="before.jpg"),
        after=File(payload=after, file_name="after.jpg"),
        camera="gate-3",
    )
)
settings = {"before": "previous", "alerts": {"severity_rules": [{"kind": "appear", "severity": "high"}]}}
camera = put_camera.sync_detailed("python", client=client, body=CameraRequest.from_dict(settings))
refused = post(ComparisonRequest(before=FrameBase64(base64="AAAA"), after="AAAA"))

print(
    json.dumps(
        {
            "json": [as_json.status_code, as_json.parsed.status, as_json.parsed.metadata],
            "form": [as_form.status_code, as_form.parsed.status, as_form.parsed.camera],
            "camera": [camera.status_code, camera.parsed.before],
            "refused": [refused.status_code, refused.parsed.field],
        }
    )
)
