package model_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/topocast/topocast/model"
)

// Two transfers share an uplink of 100 MB/s: half a second of sharing, and
// what is left alone.
func Example() {
	n, err := model.Read(strings.NewReader(`{"graph":{
		"hosts":["a","b","c","d"],"switches":["x","y"],
		"links":[
			{"a":"a","b":"x","latency_us":5,"bandwidth_MBps":100},
			{"a":"b","b":"x","latency_us":5,"bandwidth_MBps":100},
			{"a":"c","b":"y","latency_us":5,"bandwidth_MBps":100},
			{"a":"d","b":"y","latency_us":5,"bandwidth_MBps":100},
			{"a":"x","b":"y","latency_us":5,"bandwidth_MBps":100}]}}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("alone: %.3f s\n", n.Time(0, 2, 100e6))
	times, err := n.Predict(nil, []model.Transfer{{Src: 0, Dst: 2, Bytes: 100e6}, {Src: 1, Dst: 3, Bytes: 25e6}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("together: %.3f s and %.3f s\n", times[0], times[1])
	// Output:
	// alone: 1.000 s
	// together: 1.250 s and 0.500 s
}

// What topocast predict reads.
func ExampleReadTransfers() {
	transfers, err := model.ReadTransfers(strings.NewReader(`{"transfers":[{"src":0,"dst":5,"bytes":10000000,"start_s":0.25}]}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(transfers[0], "from", transfers[0].Start, "s on")
	// Output: 0->5, 10000000 bytes from 0.25 s on
}
