#!/bin/sh
# Peak memory of av_align, report included, on 20 minutes and on 3 hours of a 640x480 clip (the sample, looped).
# Usage: flat_memory.sh AV_ALIGN [FOLDER [mp4|mkv]]; takes about three quarters of an hour. Fails if the two differ by over
# 10 %. FFmpeg holds the index of an MP4 in memory; Matroska needs none.
set -eu
av_align="$1"
sample="$(dirname "$0")/../../assets/samples/talking_face.mp4"
folder="${2:-$(mktemp -d)}"
kind="${3:-mp4}"
[ $# -gt 1 ] || trap 'rm -rf "$folder"' EXIT

ffmpeg -v error -nostdin -y -i "$sample" -vf "scale=-2:480,pad=640:480:-1:0" -c:v libx264 -preset veryfast \
  -c:a aac "$folder/clip.mp4"
for minutes in 20 180; do
  ffmpeg -v error -nostdin -y -stream_loop -1 -i "$folder/clip.mp4" -t $((minutes * 60)) -c copy \
    "$folder/long_$minutes.$kind"
done
python3 - "$av_align" "$folder" "$kind" <<'PYTHON'
import json
import os
import subprocess
import sys

av_align, folder, kind = sys.argv[1:]
peaks = []
for minutes in (20, 180):
    file = f"{folder}/long_{minutes}.{kind}"
    process = subprocess.Popen([av_align, "--quiet", "-o", f"{file}.json", file])
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, f"av_align failed: {status}"
    peaks.append(usage.ru_maxrss * 1024 / 1e6)
    with open(f"{file}.json", encoding="utf-8") as text:
        report = json.load(text)
    print(f"{report['input']['duration_s'] / 60:.1f} min: {report['status']} {report['offset_ms']} ms, "
          f"peak {peaks[-1]:.0f} MB, {report['performance']['speed_x_realtime']:.1f} x real time", flush=True)
print(f"{100 * (max(peaks) / min(peaks) - 1):.1f} % apart")
sys.exit(max(peaks) > 1.1 * min(peaks))
PYTHON
