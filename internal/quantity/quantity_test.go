package quantity

import (
	"math"
	"testing"
)

func TestSeconds(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0 s", 1: "1 s", 75.25: "75.25 s", 0.5: "500 ms", 1e-3: "1 ms", 999.96e-6: "1 ms", 999.94e-6: "999.9 us", 0.99999: "1 s", 999.99e-9: "1 us", 8.21449e-6: "8.214 us",
		1e-6: "1 us", 3.309e-23: "0 s", -8e-17: "0 s", 1e-15: "1e-06 ns", 85.3e-9: "85.3 ns", 2.5e-10: "0.25 ns", -3e-6: "-3 us", math.Inf(1): "+Inf s", math.MaxFloat64: "1.798e+308 s",
	} {
		if got := Seconds(x); got != want {
			t.Errorf("Seconds(%g) = %q, want %q", x, got, want)
		}
	}
}

func TestRate(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0 B/s", 512: "512 B/s", 11750: "11.75 kB/s", 117.5e6: "117.5 MB/s", 999.9e6: "999.9 MB/s", 1e9 - 1: "1 GB/s", math.Nextafter(1e9, 0): "1 GB/s", 999.96e3: "1 MB/s", 1e9: "1 GB/s",
		1.2394e9: "1.239 GB/s", 50e12: "50 TB/s", math.Inf(1): "-",
	} {
		if got := Rate(x); got != want {
			t.Errorf("Rate(%g) = %q, want %q", x, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1: "1 B", 1023: "1023 B", 1024: "1 KiB", 1025: "1025 B", 1500: "1500 B", 1536: "1536 B", 64 << 10: "64 KiB",
		1 << 20: "1 MiB", 3 << 20: "3 MiB", 1<<20 + 1024: "1025 KiB", 1 << 30: "1 GiB", 1 << 40: "1024 GiB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	for x, want := range map[float64]string{0: "0 %", 0.0037: "0.37 %", 0.03: "3 %", 0.254: "25 %", 0.994: "99 %", 0.996: "100 %", 1.204: "120 %", -0.05: "-5 %"} {
		if got := Percent(x); got != want {
			t.Errorf("Percent(%g) = %q, want %q", x, got, want)
		}
	}
}

func TestWhatIsNotKnown(t *testing.T) {
	for name, got := range map[string]string{"Seconds": Seconds(math.NaN()), "Rate": Rate(math.NaN()), "Percent": Percent(math.NaN())} {
		if got != "-" {
			t.Errorf("%s(NaN) = %q, want -", name, got)
		}
	}
}
