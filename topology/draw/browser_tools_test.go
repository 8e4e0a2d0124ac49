package draw

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/tooltest"
)

// A browser is a headless Chromium with one page, steered through its DevTools protocol over a
// pipe. These hundred lines stand in for a client library: those generate Go for the whole protocol,
// which every build of the tests would compile, for the nine methods used here.
type browser struct {
	t        *testing.T
	to       *os.File
	answers  chan answer
	session  string
	last     int
	Requests []string // addresses that the page asked for, without what it carries itself
	Errors   []string // exceptions, and what the console got as an error
}

// answer is a message of the browser: to a call, or an event.
type answer struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// openBrowser starts Chromium and opens the page of a report of the given size, until its scene has been drawn. It skips the test unless
// tools are asked for.
func openBrowser(t *testing.T, path string, width, height int, dark bool) *browser {
	t.Helper()
	tooltest.Need(t, "chromium")
	theirs, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, back, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars", "--log-level=3",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "about:blank")
	c.ExtraFiles = []*os.File{theirs, back} // 3 and 4, as the flag has it
	var said bytes.Buffer
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	back.Close()
	b := &browser{t: t, to: to, answers: make(chan answer, 1000)}
	go func() {
		defer close(b.answers)
		r := bufio.NewReader(from)
		for {
			text, err := r.ReadBytes(0)
			if err != nil {
				return
			}
			var a answer
			if json.Unmarshal(text[:len(text)-1], &a) == nil {
				b.answers <- a
			}
		}
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		to.Close()
		from.Close()
		if t.Failed() {
			t.Logf("chromium: %s", said.String())
		}
	})
	var target struct{ TargetID, SessionID string }
	b.Call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	b.Call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	b.session = target.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.Call(domain+".enable", nil, nil)
	}
	b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.Call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	path, err = filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	b.Call("Page.navigate", map[string]any{"url": "file://" + path}, nil)
	b.Until("document.readyState === 'complete' && document.getElementById('scene').dataset.frames > 0")
	return b
}

// browserPatience bounds each call, and each wait for the page.
const browserPatience = 2 * time.Minute

// Call calls a method and reads its result into out, which may be nil. Events that come before it are kept.
func (b *browser) Call(method string, params any, out any) {
	b.t.Helper()
	b.last++
	message := map[string]any{"id": b.last, "method": method}
	if params != nil {
		message["params"] = params
	}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	text, err := json.Marshal(message)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(text, 0)); err != nil {
		b.t.Fatalf("chromium: %s: %v", method, err)
	}
	late := time.After(browserPatience)
	for {
		select {
		case a, ok := <-b.answers:
			switch {
			case !ok:
				b.t.Fatalf("chromium ended at %s", method)
			case a.ID != b.last:
				b.event(a)
			case a.Error != nil:
				b.t.Fatalf("chromium: %s: %s", method, a.Error.Message)
			default:
				if out != nil {
					if err := json.Unmarshal(a.Result, out); err != nil {
						b.t.Fatalf("chromium: %s: %v", method, err)
					}
				}
				return
			}
		case <-late:
			b.t.Fatalf("chromium: %s: no answer in %v", method, browserPatience)
		}
	}
}

// event keeps what tests ask for.
func (b *browser) event(a answer) {
	var p struct {
		Request          struct{ URL string }
		Type             string
		Entry            struct{ Level, Text string }
		ExceptionDetails json.RawMessage
	}
	_ = json.Unmarshal(a.Params, &p)
	switch a.Method {
	case "Network.requestWillBeSent":
		if !strings.HasPrefix(p.Request.URL, "data:") {
			b.Requests = append(b.Requests, p.Request.URL)
		}
	case "Runtime.exceptionThrown":
		b.Errors = append(b.Errors, string(p.ExceptionDetails))
	case "Runtime.consoleAPICalled":
		if p.Type == "error" || p.Type == "warning" {
			b.Errors = append(b.Errors, string(a.Params))
		}
	case "Log.entryAdded":
		if p.Entry.Level == "error" || p.Entry.Level == "warning" {
			b.Errors = append(b.Errors, p.Entry.Text)
		}
	}
}

// Eval evaluates an expression of the page.
func (b *browser) Eval(expression string, out any) {
	b.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.Call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, r.ExceptionDetails)
	}
	if out != nil {
		if err := json.Unmarshal(r.Result.Value, out); err != nil {
			b.t.Fatalf("%s: %v", expression, err)
		}
	}
}

// Text is an expression of the page as a string.
func (b *browser) Text(expression string) string {
	b.t.Helper()
	var s string
	b.Eval("String("+expression+")", &s)
	return s
}

// Until waits for a condition, in the page's own time.
func (b *browser) Until(condition string) {
	b.t.Helper()
	for end := time.Now().Add(browserPatience); time.Now().Before(end) && len(b.Errors) == 0; time.Sleep(20 * time.Millisecond) {
		if b.Text(fmt.Sprintf("(() => { try { return !!(%s) } catch { return false } })()", condition)) == "true" {
			return
		}
	}
	b.t.Fatalf("the page never came to %s; it said %s", condition, strings.Join(b.Errors, "; "))
}

// Painted waits until the scene has been drawn as it is now.
func (b *browser) Painted() {
	b.t.Helper()
	b.Eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))", nil)
}

// Mouse moves, presses or releases the mouse at a place of the window.
func (b *browser) Mouse(kind string, x, y float64, pressed bool) {
	b.t.Helper()
	params := map[string]any{"type": kind, "x": x, "y": y}
	if kind != "mouseMoved" {
		params["button"], params["clickCount"] = "left", 1
	}
	if pressed {
		params["buttons"] = 1
	}
	b.Call("Input.dispatchMouseEvent", params, nil)
}

// Shot saves a picture of the window.
func (b *browser) Shot(path string) {
	b.t.Helper()
	var r struct{ Data string }
	b.Call("Page.captureScreenshot", map[string]any{"format": "png"}, &r)
	data, err := base64.StdEncoding.DecodeString(r.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
