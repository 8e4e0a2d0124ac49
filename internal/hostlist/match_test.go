package hostlist

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

func TestSame(t *testing.T) {
	for _, c := range []struct {
		names, others string
		want          map[string]string
	}{
		{"n1 n2", "n1.a.b n2.a.b", map[string]string{"n1": "n1.a.b", "n2": "n2.a.b"}},
		{"n1.a n2.a", "n2 n1", map[string]string{"n1.a": "n1", "n2.a": "n2"}},
		{"n1 n2", "n1 n2.a", map[string]string{"n2": "n2.a"}},
		{"n1.a", "n1.b", nil},                                   // two domains are two hosts
		{"n1", "n1.a n1.b", nil},                                // which of both?
		{"n1.a n1.b", "n1", nil},                                // and here
		{"n1 n1", "n1.a n1.a", map[string]string{"n1": "n1.a"}}, // two ranks of one host
		{"10.0.0.1 10.0.0.2", "10 n1", nil},
		{"h1", "h2", nil},
	} {
		if got := Same(strings.Fields(c.names), strings.Fields(c.others)); !maps.Equal(got, c.want) {
			t.Errorf("Same(%s; %s) = %v, want %v", c.names, c.others, got, c.want)
		}
	}
}

func TestRenamed(t *testing.T) {
	got, said := Renamed([]string{"n2.x", "login", "n1.x", "n2.x"}, []string{"n1", "n2"})
	if fmt.Sprint(got) != "[n2 login n1 n2]" || said != "2 hosts matched without their domains: n2.x is taken for n2" {
		t.Errorf("Renamed = %v, %q", got, said)
	}
	if _, said := Renamed([]string{"n1", "n2"}, []string{"n2", "n1"}); said != "" {
		t.Errorf("names of both say %q", said)
	}
}

func TestRows(t *testing.T) {
	if got, err := Rows([]string{"b", "a", "b"}, []string{"a", "b", "c", "b"}); err != nil || fmt.Sprint(got) != "[1 0 3]" {
		t.Errorf("Rows = %v, %v; want 1 0 3", got, err)
	}
	if _, err := Rows([]string{"b", "b"}, []string{"a", "b"}); err == nil || !strings.Contains(err.Error(), "b has 1 row, want more") {
		t.Errorf("two rows of one: %v", err)
	}
}
