//go:build (linux || darwin)

#include "go_asm.h"
#include "textflag.h"

// C's convention is System V's: arguments in DI, SI, DX, CX, R8, R9 and then on the stack, which is
// aligned to 16 bytes at a call; the result is in AX; BX, BP and R12 to R15 are the caller's.

GLOBL ·batchAt(SB), NOPTR|RODATA, $8
DATA ·batchAt(SB)/8, $batch<>(SB)

// uintptr batch(batch *b) makes the calls of a batch, and returns how many it has not made, the one that
// stopped it among them. Here BX is the call, R12 the batch, R13 counts the calls, R14 the polls of one
// and R15 the rounds; the frame keeps what they were.
TEXT batch<>(SB), NOSPLIT, $48
	MOVQ BX, 8(SP)
	MOVQ R12, 16(SP)
	MOVQ R13, 24(SP)
	MOVQ R14, 32(SP)
	MOVQ R15, 40(SP)
	MOVQ DI, R12
	MOVQ batch_rounds(R12), R15

round:
	MOVQ batch_calls(R12), BX
	MOVQ batch_n(R12), R13

next:
	MOVQ batch_polls(R12), R14

again:
	MOVQ  batchCall_flag(BX), R10
	TESTQ R10, R10
	JEQ   make
	MOVL  $0, (R10)

make:
	MOVQ (batchCall_args+0)(BX), DI
	MOVQ (batchCall_args+8)(BX), SI
	MOVQ (batchCall_args+16)(BX), DX
	MOVQ (batchCall_args+24)(BX), CX
	MOVQ (batchCall_args+32)(BX), R8
	MOVQ (batchCall_args+40)(BX), R9
	MOVQ (batchCall_args+48)(BX), R10
	MOVQ R10, 0(SP)
	XORL AX, AX                  // no float among them, if it asks
	MOVQ batchCall_function(BX), R10
	CALL R10
	CMPL AX, batchCall_fine(BX)
	JNE  stop

	MOVQ  batchCall_flag(BX), R10
	TESTQ R10, R10
	JEQ   look
	CMPL  (R10), $0
	JNE   look
	SUBQ  $1, R14
	JCC   again
	MOVQ  $0, R14                // no poll is left
	MOVQ  batch_yield(R12), R10
	CALL  R10
	JMP   again

look:
	MOVQ  batchCall_word(BX), R10
	TESTQ R10, R10
	JEQ   made
	MOVQ  batchCall_wanted(BX), R11
	CMPQ  R11, (R10)
	JNE   stop

made:
	ADDQ $batchCall__size, BX
	SUBQ $1, R13
	JNE  next
	SUBQ $1, R15
	JNE  round

stop:
	MOVL AX, batch_code(R12)
	MOVQ R13, AX
	MOVQ 8(SP), BX
	MOVQ 16(SP), R12
	MOVQ 24(SP), R13
	MOVQ 32(SP), R14
	MOVQ 40(SP), R15
	RET
