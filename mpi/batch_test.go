//go:build linux && (amd64 || arm64)

package mpi

import (
	"bytes"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
)

// heard is a C function that tells with what it was called, and returns what answer says.
type heard struct {
	calls  [][]uintptr
	answer func(args []uintptr) uintptr
}

func (h *heard) function() uintptr {
	return purego.NewCallback(func(a, b, c, d, e, f, g uintptr) uintptr {
		args := []uintptr{a, b, c, d, e, f, g}
		h.calls = append(h.calls, args)
		if h.answer == nil {
			return 0
		}
		return h.answer(args)
	})
}

// heap is new memory that is not on the stack, which moves.
func heap[T any]() *T {
	p := new(T)
	escaped = p
	return p
}

var escaped any

func addressOf[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

func TestBatchMakesCallsInOrder(t *testing.T) {
	h := new(heard)
	f := h.function()
	b := &batch{rounds: 3}
	var want [][]uintptr
	for range b.rounds {
		want = append(want, []uintptr{1, 2, 3, 4, 5, 6, 7}, []uintptr{1 << 63, 0, ^uintptr(0), 0, 0, 0, 0})
	}
	for range 2 { // the second time in the memory of the first
		h.calls = nil
		b.add(0, f, want[0]...)
		b.add(1, f, want[1][:3]...)
		if stopped := b.run(); stopped != nil || b.code != 0 {
			t.Fatalf("run() stopped at %+v with code %d, want all calls made", stopped, b.code)
		}
		if !slices.EqualFunc(h.calls, want, slices.Equal[[]uintptr]) {
			t.Fatalf("the calls were %d, want %d", h.calls, want)
		}
	}
}

func TestBatchStops(t *testing.T) {
	const step = 5
	word := heap[uint64]()
	for _, tt := range []struct {
		name   string
		answer uintptr
		fine   uintptr
		wanted uintptr
		stops  bool
		code   int32
	}{
		{"at a result that is not 0", 17, 0, 9, true, 17},
		{"at the lower half of one", 1<<40 | 3, 0, 9, true, 3},
		{"not at an upper half", 1 << 40, 0, 9, false, 0},
		{"at a negative one", uintptr(^uint32(0)), 0, 9, true, -1},
		{"not at the one that is expected", 1<<40 | 77, 2<<40 | 77, 9, false, 0},
		{"at 0 where another is expected", 0, 77, 9, true, 0},
		{"at a word below the wanted one", 0, 0, 10, true, 0},
		{"at a word above, by its upper half", 0, 0, 1<<32 | 9, true, 0},
	} {
		h := new(heard)
		h.answer = func(args []uintptr) uintptr {
			if args[0] == step {
				*word = 9
				return tt.answer
			}
			return 0
		}
		f := h.function()
		b := &batch{rounds: 2}
		for i := range 2 * step {
			c := b.add(i, f, uintptr(i))
			if i == step {
				c.fine, c.word, c.wanted = tt.fine, addressOf(word), tt.wanted
			}
		}
		*word = 0
		stopped := b.run()
		made := 4 * step
		if tt.stops {
			made = step + 1
		}
		if (stopped != nil) != tt.stops || stopped != nil && (stopped.step != step || b.code != tt.code) || len(h.calls) != made {
			t.Errorf("%s: stopped at %+v with code %d after %d calls, want step %d: %v with code %d after %d",
				tt.name, stopped, b.code, len(h.calls), step, tt.stops, tt.code, made)
		}
	}
}

func TestBatchPollsAndYields(t *testing.T) {
	const polls, needed = 3, 6
	for _, fails := range []bool{false, true} {
		flag, order := heap[int32](), strings.Builder{}
		*flag = 1 // of before: the call has to be made
		left := 0
		test, yield, other := new(heard), new(heard), new(heard)
		test.answer = func([]uintptr) uintptr {
			order.WriteString("t")
			if *flag != 0 {
				t.Error("the flag was not taken back")
			}
			if left--; left > 0 {
				return 0
			}
			if fails {
				return 8
			}
			*flag = -1
			return 0
		}
		yield.answer = func([]uintptr) uintptr { order.WriteString("y"); left--; return 99 }
		other.answer = func([]uintptr) uintptr { order.WriteString("o"); left = needed; return 0 }
		b := &batch{rounds: 1, polls: polls, yield: yield.function()}
		o, f := other.function(), test.function()
		for i := range 2 {
			b.add(i, o)
			b.add(i, f).flag = addressOf(flag)
		}
		stopped := b.run()
		// Four polls without a word, then a yield, which counts as one here, between any two.
		want := "ottttyt" + "ottttyt"
		if fails {
			want = "ottttyt"
		}
		if order.String() != want || (stopped != nil) != fails || fails && b.code != 8 {
			t.Errorf("fails=%v: the calls were %s, stopped at %+v with code %d, want %s", fails, order.String(), stopped, b.code, want)
		}
	}
}

// A batch is a C function, so that it may be a call of another one: an inner loop.
func TestBatchWithinBatch(t *testing.T) {
	h := new(heard)
	f := h.function()
	inner, outer := heap[batch](), heap[batch]()
	inner.rounds, outer.rounds = 3, 2
	inner.add(0, f, 1)
	inner.add(1, f, 2)
	outer.add(0, f, 3)
	inner.ready()
	outer.add(1, batchAt, addressOf(inner))
	stopped := outer.run()
	var got []uintptr
	for _, args := range h.calls {
		got = append(got, args[0])
	}
	if want := []uintptr{3, 1, 2, 1, 2, 1, 2, 3, 1, 2, 1, 2, 1, 2}; stopped != nil || !slices.Equal(got, want) {
		t.Errorf("the calls were %d, want %d", got, want)
	}
	h.answer = func(args []uintptr) uintptr { return args[0] - 1 }
	outer.add(7, batchAt, addressOf(inner))
	if stopped := outer.run(); stopped == nil || stopped.step != 7 || inner.code != 1 {
		t.Errorf("stopped at %+v with the inner code %d, want step 7 and code 1", stopped, inner.code)
	}
}

// What libc does with the arguments, the copy of a copy among them, whose results are their destinations.
func TestBatchCallsLibc(t *testing.T) {
	set, copies, compare := loaded("memset"), loaded("memcpy"), loaded("memcmp")
	a, c := heap[[64]byte](), heap[[64]byte]()
	at, ct := addressOf(a), addressOf(c)
	b := &batch{rounds: 1}
	b.add(0, set, at, 'x', 40).fine = at
	b.add(1, copies, ct+8, at, 16).fine = ct + 8
	b.add(2, compare, at, ct+8, 16)
	b.add(3, compare, at, ct, 16) // differ
	b.add(4, set, at, 0, 64).fine = at
	stopped := b.run()
	if stopped == nil || stopped.step != 3 || a[39] != 'x' || !bytes.Equal(c[:32], []byte(strings.Repeat("\x00", 8)+strings.Repeat("x", 16)+strings.Repeat("\x00", 8))) {
		t.Errorf("stopped at %+v, with %q and %q", stopped, a, c)
	}
}

// What C relies on, as machine code sees it: the stack is aligned when a function is called, and registers
// that a function has to keep are what they were when the batch returns.
func TestBatchKeepsConvention(t *testing.T) {
	code, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(code)
	const keeperAt = 64
	machine := machineCode[runtime.GOARCH]
	copy(code, machine.misaligned)
	copy(code[keeperAt:], machine.keeper)
	if err := syscall.Mprotect(code, syscall.PROT_READ|syscall.PROT_EXEC); err != nil {
		t.Fatal(err)
	}
	misaligned, keeper := addressOf(&code[0]), addressOf(&code[keeperAt])
	b := heap[batch]()
	b.rounds = 100
	b.add(0, misaligned).fine = machine.atEntry
	b.add(1, loaded("clock_gettime"), 1, addressOf(heap[[2]int64]()))
	b.add(2, misaligned).fine = machine.atEntry
	b.ready()
	if changed := invoke(keeper, batchAt, addressOf(b)); changed != 0 || b.code != int32(machine.atEntry) {
		t.Errorf("a batch changes registers of its caller by %#x, or the stack is not aligned: %d bytes off, want %d", changed, b.code, machine.atEntry)
	}
	// The code of the last call tells that all were made; one that stops keeps registers, too.
	b.pending[2].fine = 1
	if changed := invoke(keeper, batchAt, addressOf(b)); changed != 0 {
		t.Errorf("a batch that stops changes registers of its caller by %#x", changed)
	}
}

// machineCode are two functions in machine code: by how many bytes the stack is off where a function begins, which is
// atEntry as C has it; and one that fills all registers which a function has to keep, calls its first argument with its
// second, and returns by how much they differ then.
var machineCode = map[string]struct {
	misaligned, keeper string
	atEntry            uintptr
}{
	"amd64": {
		misaligned: "\x48\x89\xe0" + // mov %rsp, %rax
			"\x83\xe0\x0f\xc3", // and $15, %eax; ret
		atEntry: 8, // below the return address
		keeper: "\x53\x55\x41\x54\x41\x55\x41\x56\x41\x57" + // push %rbx, %rbp, %r12, %r13, %r14, %r15
			"\x48\x83\xec\x08" + // sub $8, %rsp
			"\xbb\x01\x00\x00\x00" + "\xbd\x02\x00\x00\x00" + // mov $1, %ebx; $2, %ebp
			"\x41\xbc\x03\x00\x00\x00" + "\x41\xbd\x04\x00\x00\x00" + // $3, %r12d; $4, %r13d
			"\x41\xbe\x05\x00\x00\x00" + "\x41\xbf\x06\x00\x00\x00" + // $5, %r14d; $6, %r15d
			"\x48\x89\xf8" + "\x48\x89\xf7" + "\xff\xd0" + // mov %rdi, %rax; mov %rsi, %rdi; call *%rax
			"\x48\x83\xeb\x01" + "\x48\x83\xed\x02" + "\x49\x83\xec\x03" + // sub $1, %rbx; $2, %rbp; $3, %r12
			"\x49\x83\xed\x04" + "\x49\x83\xee\x05" + "\x49\x83\xef\x06" + // $4, %r13; $5, %r14; $6, %r15
			"\x48\x09\xeb" + "\x4c\x09\xe3" + "\x4c\x09\xeb" + "\x4c\x09\xf3" + "\x4c\x09\xfb" + // or them all into %rbx
			"\x48\x89\xd8" + "\x48\x83\xc4\x08" + // mov %rbx, %rax; add $8, %rsp
			"\x41\x5f\x41\x5e\x41\x5d\x41\x5c\x5d\x5b\xc3", // pop them; ret
	},
	"arm64": {
		misaligned: words(0x910003e0, 0x92400c00, 0xd65f03c0), // mov x0, sp; and x0, x0, #15; ret
		keeper: words(
			0xa9ba7bfd, 0xa90153f3, 0xa9025bf5, 0xa90363f7, 0xa9046bf9, 0xf9002bfb, // stp x29, x30, [sp, #-96]!; x19 to x27 behind
			0xb24003f3, 0xb27f03f4, 0xb24007f5, 0xb27e03f6, 0xd28000b7, // mov x19 to x23, #1 to #5
			0xb27f07f8, 0xb2400bf9, 0xb27d03fa, 0xd280013b, 0xd280015d, // mov x24 to x27, x29, #6 to #10
			0xaa0003e9, 0xaa0103e0, 0xd63f0120, // mov x9, x0; mov x0, x1; blr x9
			0xd1000673, 0xd1000a94, 0xd1000eb5, 0xd10012d6, 0xd10016f7, // sub x19 to x23, #1 to #5
			0xd1001b18, 0xd1001f39, 0xd100235a, 0xd100277b, 0xd1002bbd, // sub x24 to x27, x29, #6 to #10
			0xaa140260, 0xaa150000, 0xaa160000, 0xaa170000, 0xaa180000, // orr them all into x0
			0xaa190000, 0xaa1a0000, 0xaa1b0000, 0xaa1d0000,
			0xf9402bfb, 0xa9446bf9, 0xa94363f7, 0xa9425bf5, 0xa94153f3, 0xa8c67bfd, // ldp them back
			0xd65f03c0), // ret
	},
}

// words are instructions of 4 bytes, the lowest first.
func words(instructions ...uint32) string {
	var b []byte
	for _, i := range instructions {
		b = append(b, byte(i), byte(i>>8), byte(i>>16), byte(i>>24))
	}
	return string(b)
}
