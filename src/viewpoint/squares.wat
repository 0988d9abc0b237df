;; The loop over the pixels of a frame (squares.ts). `npm run webassembly` compiles this file into squares-code.ts. Sums
;; are integers, and what is computed of them is in double precision, so that the results are those of JavaScript.
(module
  (memory (export "memory") (import "env" "memory") 1)

  ;; Interleaved R, G, B bytes -> luma, float32, of squares of `side` x `side` pixels, at most 257: share * (red R + green G
  ;; + blue B) of their sums. cells: four i32 (the sums of R, G and B, and one without meaning) for each four columns of
  ;; squares, to which the squares of all rows are added. lines: memory for 16 bits per byte of a line.
  ;;
  ;; It takes 16 bytes of a line at once and may go past its end: it reads up to 15 bytes behind the last line, and writes
  ;; up to 30 behind `lines`.
  (func (export "squares")
    (param $rgb i32) (param $stride i32) (param $side i32) (param $columns i32) (param $rows i32)
    (param $lines i32) (param $cells i32) (param $luma i32)
    (param $red f64) (param $green f64) (param $blue f64) (param $share f64)
    (local $x i32) (local $at i32) (local $end i32) (local $count i32) (local $cell i32)
    (local $low v128) (local $high v128) (local $bytes v128)
    (loop $row
      (local.set $x (i32.const 0))
      (local.set $end (i32.mul (i32.mul (local.get $columns) (local.get $side)) (i32.const 3)))
      (loop $sixteen
        (local.set $low (v128.const i32x4 0 0 0 0))
        (local.set $high (v128.const i32x4 0 0 0 0))
        (local.set $at (i32.add (local.get $rgb) (local.get $x)))
        (local.set $count (local.get $side))
        (loop $down
          (local.set $bytes (v128.load (local.get $at)))
          (local.set $low (i16x8.add (local.get $low) (i16x8.extend_low_i8x16_u (local.get $bytes))))
          (local.set $high (i16x8.add (local.get $high) (i16x8.extend_high_i8x16_u (local.get $bytes))))
          (local.set $at (i32.add (local.get $at) (local.get $stride)))
          (br_if $down (local.tee $count (i32.sub (local.get $count) (i32.const 1)))))
        (local.set $at (i32.add (local.get $lines) (i32.shl (local.get $x) (i32.const 1))))
        (v128.store (local.get $at) (local.get $low))
        (v128.store offset=16 (local.get $at) (local.get $high))
        (br_if $sixteen
          (i32.lt_u (local.tee $x (i32.add (local.get $x) (i32.const 16))) (local.get $end))))
      (local.set $at (local.get $lines))
      (local.set $x (i32.const 0))
      (loop $square
        (local.set $low (v128.const i32x4 0 0 0 0)) ;; lanes: R, G, B, and a fourth that is not used
        (local.set $count (local.get $side))
        (loop $across
          (local.set $low
            (i32x4.add (local.get $low) (i32x4.extend_low_i16x8_u (v128.load64_zero (local.get $at)))))
          (local.set $at (i32.add (local.get $at) (i32.const 6)))
          (br_if $across (local.tee $count (i32.sub (local.get $count) (i32.const 1)))))
        (local.set $cell
          (i32.add (local.get $cells) (i32.shl (i32.shr_u (local.get $x) (i32.const 2)) (i32.const 4))))
        (v128.store (local.get $cell) (i32x4.add (v128.load (local.get $cell)) (local.get $low)))
        (f32.store
          (local.get $luma)
          (f32.demote_f64
            (f64.mul
              (f64.add
                (f64.add
                  (f64.mul (local.get $red) (f64.convert_i32_u (i32x4.extract_lane 0 (local.get $low))))
                  (f64.mul (local.get $green) (f64.convert_i32_u (i32x4.extract_lane 1 (local.get $low)))))
                (f64.mul (local.get $blue) (f64.convert_i32_u (i32x4.extract_lane 2 (local.get $low)))))
              (local.get $share))))
        (local.set $luma (i32.add (local.get $luma) (i32.const 4)))
        (br_if $square
          (i32.lt_u (local.tee $x (i32.add (local.get $x) (i32.const 1))) (local.get $columns))))
      (local.set $rgb (i32.add (local.get $rgb) (i32.mul (local.get $side) (local.get $stride))))
      (br_if $row (local.tee $rows (i32.sub (local.get $rows) (i32.const 1)))))))
