"""Peer of bench peers: OpenCV's MOG2 background subtraction with contours, on one frame per second of a file.

Prints a JSON list: seconds at which motion began and ended.
"""

import json
import sys

import cv2

LEAST_AREA = 1 / 2000  # of the frame: a smaller contour is noise
STEP = 1.0  # seconds

video = cv2.VideoCapture(sys.argv[1])
if not video.isOpened():
    raise SystemExit(f"{sys.argv[1]}: cannot be opened")
rate = video.get(cv2.CAP_PROP_FPS)
background = cv2.createBackgroundSubtractorMOG2(history=120, varThreshold=16, detectShadows=True)
moving, moments, frame = False, [], 0
while video.grab():
    if frame % round(rate * STEP) == 0:
        _, picture = video.retrieve()
        mask = background.apply(cv2.resize(picture, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA))
        mask = cv2.morphologyEx((mask == 255).astype("uint8"), cv2.MORPH_OPEN, None)
        contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
        now = frame > 0 and any(cv2.contourArea(one) >= LEAST_AREA * mask.size for one in contours)
        if now != moving:
            moments.append(round(frame / rate, 2))
            moving = now
    frame += 1
print(json.dumps(moments))
