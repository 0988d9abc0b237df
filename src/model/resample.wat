;; The loops of the resampler (resample.ts). `npm run webassembly` compiles this file into resample-code.ts. All arithmetic is
;; that of Pillow for 8-bit images: 32-bit integers, weights in units of 2^-22, and each pass rounds its result to 8 bits;
;; so the pixels are exactly those of training.
;;
;; Pixels are interleaved R, G, B bytes. The loads and stores of `across` touch one byte behind the last pixel.
(module
  (memory (export "memory") (import "env" "memory") 1)

  ;; One half in units of 2^-22, so that shifting rounds.
  (global $half v128 (v128.const i32x4 0x200000 0x200000 0x200000 0x200000))

  ;; rows x (source width) -> rows x width: every target pixel is a weighted sum of neighbours in its row.
  ;; taps: three i32 per column: the first source byte within the row, the number of taps, the address of their weights.
  (func (export "across")
    (param $source i32) (param $stride i32) (param $rows i32)
    (param $target i32) (param $target_stride i32) (param $width i32) (param $taps i32)
    (local $x i32) (local $tap i32) (local $from i32) (local $to i32) (local $weight i32) (local $end i32) (local $sum v128)
    (loop $row
      (local.set $tap (local.get $taps))
      (local.set $to (local.get $target))
      (local.set $x (local.get $width))
      (loop $column
        (local.set $from (i32.add (local.get $source) (i32.load (local.get $tap))))
        (local.set $weight (i32.load offset=8 (local.get $tap)))
        (local.set $end
          (i32.add (local.get $weight) (i32.shl (i32.load offset=4 (local.get $tap)) (i32.const 2))))
        (local.set $sum (global.get $half))
        (loop $pixel ;; lanes: R, G, B, and a fourth that is not used
          (local.set $sum
            (i32x4.add
              (local.get $sum)
              (i32x4.mul
                (v128.load32_splat (local.get $weight))
                (i32x4.extend_low_i16x8_u (i16x8.extend_low_i8x16_u (v128.load32_zero (local.get $from)))))))
          (local.set $from (i32.add (local.get $from) (i32.const 3)))
          (br_if $pixel
            (i32.lt_u (local.tee $weight (i32.add (local.get $weight) (i32.const 4))) (local.get $end))))
        (local.set $sum (i32x4.shr_u (local.get $sum) (i32.const 22)))
        (local.set $sum (i16x8.narrow_i32x4_s (local.get $sum) (local.get $sum)))
        (v128.store32_lane 0 (local.get $to) (i8x16.narrow_i16x8_u (local.get $sum) (local.get $sum)))
        (local.set $to (i32.add (local.get $to) (i32.const 3)))
        (local.set $tap (i32.add (local.get $tap) (i32.const 12)))
        (br_if $column (local.tee $x (i32.sub (local.get $x) (i32.const 1)))))
      (local.set $source (i32.add (local.get $source) (local.get $stride)))
      (local.set $target (i32.add (local.get $target) (local.get $target_stride)))
      (br_if $row (local.tee $rows (i32.sub (local.get $rows) (i32.const 1))))))

  ;; The first `bytes` of count rows -> one row, rounded up to 8 bytes: every target byte is a weighted sum of the bytes of
  ;; its column.
  (func (export "down")
    (param $source i32) (param $stride i32) (param $count i32) (param $weights i32) (param $target i32)
    (param $bytes i32)
    (local $x i32) (local $from i32) (local $weight i32) (local $end i32)
    (local $pixels v128) (local $factor v128) (local $low v128) (local $high v128)
    (local.set $end (i32.add (local.get $weights) (i32.shl (local.get $count) (i32.const 2))))
    (loop $eight
      (local.set $from (i32.add (local.get $source) (local.get $x)))
      (local.set $weight (local.get $weights))
      (local.set $low (global.get $half))
      (local.set $high (global.get $half))
      (loop $row
        (local.set $pixels (i16x8.extend_low_i8x16_u (v128.load64_zero (local.get $from))))
        (local.set $factor (v128.load32_splat (local.get $weight)))
        (local.set $low
          (i32x4.add
            (local.get $low) (i32x4.mul (local.get $factor) (i32x4.extend_low_i16x8_u (local.get $pixels)))))
        (local.set $high
          (i32x4.add
            (local.get $high) (i32x4.mul (local.get $factor) (i32x4.extend_high_i16x8_u (local.get $pixels)))))
        (local.set $from (i32.add (local.get $from) (local.get $stride)))
        (br_if $row
          (i32.lt_u (local.tee $weight (i32.add (local.get $weight) (i32.const 4))) (local.get $end))))
      (local.set $low
        (i16x8.narrow_i32x4_s
          (i32x4.shr_u (local.get $low) (i32.const 22)) (i32x4.shr_u (local.get $high) (i32.const 22))))
      (v128.store64_lane 0
        (i32.add (local.get $target) (local.get $x)) (i8x16.narrow_i16x8_u (local.get $low) (local.get $low)))
      (br_if $eight
        (i32.lt_u (local.tee $x (i32.add (local.get $x) (i32.const 8))) (local.get $bytes)))))

  ;; One row of pixels -> three rows of float32, one per channel, `plane` bytes apart: the entry of `levels` (3 x 256 float32)
  ;; for each value.
  (func (export "spread") (param $row i32) (param $width i32) (param $levels i32) (param $target i32)
    (param $plane i32)
    (local $red i32) (local $green i32) (local $blue i32) (local $end i32)
    (local.set $red (local.get $target))
    (local.set $end (i32.add (local.get $target) (i32.shl (local.get $width) (i32.const 2))))
    (local.set $green (i32.add (local.get $target) (local.get $plane)))
    (local.set $blue (i32.add (local.get $green) (local.get $plane)))
    (loop $pixel
      (f32.store
        (local.get $red)
        (f32.load (i32.add (local.get $levels) (i32.shl (i32.load8_u (local.get $row)) (i32.const 2)))))
      (f32.store
        (local.get $green)
        (f32.load offset=1024
          (i32.add (local.get $levels) (i32.shl (i32.load8_u offset=1 (local.get $row)) (i32.const 2)))))
      (f32.store
        (local.get $blue)
        (f32.load offset=2048
          (i32.add (local.get $levels) (i32.shl (i32.load8_u offset=2 (local.get $row)) (i32.const 2)))))
      (local.set $row (i32.add (local.get $row) (i32.const 3)))
      (local.set $green (i32.add (local.get $green) (i32.const 4)))
      (local.set $blue (i32.add (local.get $blue) (i32.const 4)))
      (br_if $pixel
        (i32.lt_u (local.tee $red (i32.add (local.get $red) (i32.const 4))) (local.get $end))))))
