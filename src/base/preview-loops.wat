;; The loops over the pixels of previews (preview-loops.ts). `npm run webassembly` compiles this file into
;; preview-loops-code.ts. All arithmetic is in integers, so that the results are those of the same loops anywhere else.
;;
;; A loop takes 16 bytes of a row at once and may go past its end: it writes up to 15 bytes behind each row, which the
;; next row replaces, and reads and writes up to 15 bytes behind the last one.
(module
  (memory (export "memory") (import "env" "memory") 1)

  ;; Interleaved R, G, B bytes -> luma, blue and red: a plane each. Luma is (77 R + 150 G + 29 B) / 256, rounded down.
  (func (export "split")
    (param $rgb i32) (param $pixels i32) (param $luma i32) (param $blue i32) (param $red i32)
    (local $end i32) (local $a v128) (local $b v128) (local $c v128) (local $r v128) (local $g v128) (local $low v128)
    (local.set $end (i32.add (local.get $luma) (local.get $pixels)))
    (loop $sixteen
      (local.set $a (v128.load (local.get $rgb)))
      (local.set $b (v128.load offset=16 (local.get $rgb)))
      (local.set $c (v128.load offset=32 (local.get $rgb)))
      (local.set $r
        (i8x16.shuffle 0 1 2 3 4 5 6 7 8 9 10 17 20 23 26 29
          (i8x16.shuffle 0 3 6 9 12 15 18 21 24 27 30 0 0 0 0 0 (local.get $a) (local.get $b))
          (local.get $c)))
      (local.set $g
        (i8x16.shuffle 0 1 2 3 4 5 6 7 8 9 10 18 21 24 27 30
          (i8x16.shuffle 1 4 7 10 13 16 19 22 25 28 31 0 0 0 0 0 (local.get $a) (local.get $b))
          (local.get $c)))
      (local.set $b
        (i8x16.shuffle 0 1 2 3 4 5 6 7 8 9 16 19 22 25 28 31
          (i8x16.shuffle 2 5 8 11 14 17 20 23 26 29 0 0 0 0 0 0 (local.get $a) (local.get $b))
          (local.get $c)))
      (v128.store (local.get $red) (local.get $r))
      (v128.store (local.get $blue) (local.get $b))
      (local.set $low
        (i16x8.add
          (i16x8.add
            (i16x8.extmul_low_i8x16_u (local.get $r) (i8x16.splat (i32.const 77)))
            (i16x8.extmul_low_i8x16_u (local.get $g) (i8x16.splat (i32.const 150))))
          (i16x8.extmul_low_i8x16_u (local.get $b) (i8x16.splat (i32.const 29)))))
      (local.set $a
        (i16x8.add
          (i16x8.add
            (i16x8.extmul_high_i8x16_u (local.get $r) (i8x16.splat (i32.const 77)))
            (i16x8.extmul_high_i8x16_u (local.get $g) (i8x16.splat (i32.const 150))))
          (i16x8.extmul_high_i8x16_u (local.get $b) (i8x16.splat (i32.const 29)))))
      (v128.store
        (local.get $luma)
        (i8x16.narrow_i16x8_u
          (i16x8.shr_u (local.get $low) (i32.const 8)) (i16x8.shr_u (local.get $a) (i32.const 8))))
      (local.set $rgb (i32.add (local.get $rgb) (i32.const 48)))
      (local.set $blue (i32.add (local.get $blue) (i32.const 16)))
      (local.set $red (i32.add (local.get $red) (i32.const 16)))
      (br_if $sixteen
        (i32.lt_u (local.tee $luma (i32.add (local.get $luma) (i32.const 16))) (local.get $end)))))

  ;; Sums of two by two bytes of eight squares.
  (func $squares (param $at i32) (param $stride i32) (result v128)
    (i16x8.add
      (i16x8.extadd_pairwise_i8x16_u (v128.load (local.get $at)))
      (i16x8.extadd_pairwise_i8x16_u (v128.load (i32.add (local.get $at) (local.get $stride))))))

  ;; Planes of luma and of red or blue -> chroma of two by two pixels: 128 + factor / 1024 of the difference of their sums.
  (func (export "chroma")
    (param $luma i32) (param $plane i32) (param $stride i32) (param $target i32) (param $columns i32) (param $rows i32)
    (param $factor i32)
    (local $x i32) (local $at i32) (local $difference v128) (local $factors v128)
    (local.set $factors (i16x8.splat (local.get $factor)))
    (loop $row
      (local.set $x (i32.const 0))
      (loop $eight
        (local.set $at (i32.shl (local.get $x) (i32.const 1)))
        (local.set $difference
          (i16x8.sub
            (call $squares (i32.add (local.get $plane) (local.get $at)) (local.get $stride))
            (call $squares (i32.add (local.get $luma) (local.get $at)) (local.get $stride))))
        (local.set $difference
          (i16x8.add
            (i16x8.narrow_i32x4_s
              (i32x4.shr_s
                (i32x4.extmul_low_i16x8_s (local.get $difference) (local.get $factors)) (i32.const 10))
              (i32x4.shr_s
                (i32x4.extmul_high_i16x8_s (local.get $difference) (local.get $factors)) (i32.const 10)))
            (i16x8.splat (i32.const 128))))
        (v128.store64_lane 0
          (i32.add (local.get $target) (local.get $x))
          (i8x16.narrow_i16x8_u (local.get $difference) (local.get $difference)))
        (br_if $eight
          (i32.lt_u (local.tee $x (i32.add (local.get $x) (i32.const 8))) (local.get $columns))))
      (local.set $luma (i32.add (local.get $luma) (i32.shl (local.get $stride) (i32.const 1))))
      (local.set $plane (i32.add (local.get $plane) (i32.shl (local.get $stride) (i32.const 1))))
      (local.set $target (i32.add (local.get $target) (local.get $columns)))
      (br_if $row (local.tee $rows (i32.sub (local.get $rows) (i32.const 1))))))

  ;; A plane at half its width and height: rounded means of two by two bytes.
  (func (export "halve")
    (param $plane i32) (param $stride i32) (param $target i32) (param $columns i32) (param $rows i32)
    (local $x i32) (local $mean v128)
    (loop $row
      (local.set $x (i32.const 0))
      (loop $eight
        (local.set $mean
          (i16x8.shr_u
            (i16x8.add
              (call $squares
                (i32.add (local.get $plane) (i32.shl (local.get $x) (i32.const 1))) (local.get $stride))
              (i16x8.splat (i32.const 2)))
            (i32.const 2)))
        (v128.store64_lane 0
          (i32.add (local.get $target) (local.get $x)) (i8x16.narrow_i16x8_u (local.get $mean) (local.get $mean)))
        (br_if $eight
          (i32.lt_u (local.tee $x (i32.add (local.get $x) (i32.const 8))) (local.get $columns))))
      (local.set $plane (i32.add (local.get $plane) (i32.shl (local.get $stride) (i32.const 1))))
      (local.set $target (i32.add (local.get $target) (local.get $columns)))
      (br_if $row (local.tee $rows (i32.sub (local.get $rows) (i32.const 1))))))

  ;; Rows of bytes, at most 257 -> the sum of each column, 16 bits; then of each run of columns the rounded mean times
  ;; `scale`, 16 bits. borders: one more than there are runs, 16 bits: the first column of each, and the end of the last.
  (func (export "means")
    (param $plane i32) (param $width i32) (param $rows i32) (param $sums i32) (param $borders i32) (param $target i32)
    (param $runs i32) (param $scale i32)
    (local $x i32) (local $at i32) (local $row i32) (local $low v128) (local $high v128) (local $bytes v128)
    (local $from i32) (local $end i32) (local $sum i32)
    (loop $sixteen
      (local.set $low (v128.const i32x4 0 0 0 0))
      (local.set $high (v128.const i32x4 0 0 0 0))
      (local.set $at (i32.add (local.get $plane) (local.get $x)))
      (local.set $row (local.get $rows))
      (loop $down
        (local.set $bytes (v128.load (local.get $at)))
        (local.set $low (i16x8.add (local.get $low) (i16x8.extend_low_i8x16_u (local.get $bytes))))
        (local.set $high (i16x8.add (local.get $high) (i16x8.extend_high_i8x16_u (local.get $bytes))))
        (local.set $at (i32.add (local.get $at) (local.get $width)))
        (br_if $down (local.tee $row (i32.sub (local.get $row) (i32.const 1)))))
      (local.set $at (i32.add (local.get $sums) (i32.shl (local.get $x) (i32.const 1))))
      (v128.store (local.get $at) (local.get $low))
      (v128.store offset=16 (local.get $at) (local.get $high))
      (br_if $sixteen
        (i32.lt_u (local.tee $x (i32.add (local.get $x) (i32.const 16))) (local.get $width))))
    (local.set $end (i32.add (local.get $sums) (i32.shl (i32.load16_u (local.get $borders)) (i32.const 1))))
    (loop $run
      (local.set $borders (i32.add (local.get $borders) (i32.const 2)))
      (local.set $at (local.tee $from (local.get $end)))
      (local.set $end (i32.add (local.get $sums) (i32.shl (i32.load16_u (local.get $borders)) (i32.const 1))))
      (local.set $sum (i32.const 0))
      (loop $column
        (local.set $sum (i32.add (local.get $sum) (i32.load16_u (local.get $at))))
        (br_if $column
          (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 2))) (local.get $end))))
      (i32.store16
        (local.get $target)
        (i32.trunc_f64_u
          (f64.add
            (f64.div
              (f64.convert_i32_u (i32.mul (local.get $sum) (local.get $scale)))
              (f64.convert_i32_u
                (i32.mul
                  (local.get $rows)
                  (i32.shr_u (i32.sub (local.get $end) (local.get $from)) (i32.const 1)))))
            (f64.const 0.5))))
      (local.set $target (i32.add (local.get $target) (i32.const 2)))
      (br_if $run (local.tee $runs (i32.sub (local.get $runs) (i32.const 1)))))))
