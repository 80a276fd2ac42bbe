#!/bin/sh
# Peak memory of av_align on 20 minutes and on 3 hours of a 640x480 clip (the sample, looped).
# Usage: flat_memory.sh AV_ALIGN [FOLDER [mp4|mkv]]; takes about three quarters of an hour. Fails if the two differ by over
# 10 %. FFmpeg holds the index of an MP4 in memory, which grows with the length; Matroska needs none.
set -eu
av_align="$1"
sample="$(dirname "$0")/../../assets/samples/talking_face.mp4"
folder="${2:-$(mktemp -d)}"
kind="${3:-mp4}"
[ $# -gt 1 ] || trap 'rm -rf "$folder"' EXIT

ffmpeg -v error -nostdin -y -i "$sample" -vf "scale=-2:480,pad=640:480:-1:0" -c:v libx264 -preset veryfast \
  -c:a aac "$folder/clip.mp4"
for minutes in 20 180; do
  ffmpeg -v error -nostdin -y -stream_loop -1 -i "$folder/clip.mp4" -t $((minutes * 60)) -c copy "$folder/long.$kind"
  "$av_align" --quiet -o "$folder/report_$minutes.json" "$folder/long.$kind"
done
python3 - "$folder" <<'PYTHON'
import json
import sys

peaks = []
for minutes in (20, 180):
    report = json.load(open(f"{sys.argv[1]}/report_{minutes}.json"))
    performance = report["performance"]
    peaks.append(performance["peak_rss_mb"])
    print(f"{report['input']['duration_s'] / 60:.1f} min: {report['status']} {report['offset_ms']} ms, "
          f"peak {peaks[-1]:.0f} MB, {performance['speed_x_realtime']:.1f} x real time")
sys.exit(max(peaks) > 1.1 * min(peaks))
PYTHON
