//go:build (linux || darwin)

#include "go_asm.h"
#include "textflag.h"

// C's convention is AAPCS64's: arguments in R0 to R7, the result in R0; R19 to R29 are the caller's, the
// stack is aligned to 16 bytes. R18 is the system's, R27 the assembler's, R28 Go's.

GLOBL ·batchAt(SB), NOPTR|RODATA, $8
DATA ·batchAt(SB)/8, $batch<>(SB)

// uintptr batch(batch *b) makes the calls of a batch, and returns how many it has not made, the one that
// stopped it among them. Here R19 is the call, R20 the batch, R21 counts the calls, R22 the polls of one
// and R23 the rounds; the frame keeps what they were. It is C's: Go's would have what it saves below RSP.
TEXT batch<>(SB), NOSPLIT|NOFRAME, $0
	STP.W (R29, R30), -64(RSP)
	STP   (R19, R20), 16(RSP)
	STP   (R21, R22), 32(RSP)
	MOVD  R23, 48(RSP)
	MOVD  RSP, R29
	MOVD  R0, R20
	MOVD  batch_rounds(R20), R23

round:
	MOVD batch_calls(R20), R19
	MOVD batch_n(R20), R21

next:
	MOVD batch_polls(R20), R22

again:
	MOVD batchCall_flag(R19), R9
	CBZ  R9, make
	MOVW ZR, (R9)

make:
	LDP  (batchCall_args+0)(R19), (R0, R1)
	LDP  (batchCall_args+16)(R19), (R2, R3)
	LDP  (batchCall_args+32)(R19), (R4, R5)
	MOVD (batchCall_args+48)(R19), R6
	MOVD batchCall_function(R19), R9
	CALL (R9)
	MOVD batchCall_fine(R19), R9
	CMPW R9, R0
	BNE  stop

	MOVD batchCall_flag(R19), R9
	CBZ  R9, look
	MOVW (R9), R9
	CBNZW R9, look
	CBZ  R22, yield
	SUB  $1, R22
	B    again

yield:
	MOVD batch_yield(R20), R9
	CALL (R9)
	B    again

look:
	MOVD batchCall_word(R19), R9
	CBZ  R9, made
	MOVD (R9), R9
	MOVD batchCall_wanted(R19), R10
	CMP  R10, R9
	BNE  stop

made:
	ADD  $batchCall__size, R19
	SUBS $1, R21
	BNE  next
	SUBS $1, R23
	BNE  round

stop:
	MOVW  R0, batch_code(R20)
	MOVD  R21, R0
	MOVD  48(RSP), R23
	LDP   32(RSP), (R21, R22)
	LDP   16(RSP), (R19, R20)
	LDP.P 64(RSP), (R29, R30)
	RET
