// Porcupine on our histories: reads one or more files of JSON lines, then checks them all each time
// that a line arrives on its input. One JSON object on its output for each: {"ready": true}, then
// {"seconds": ..., "invalid": how many are}. Only the check is timed, not the reading.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

type event struct {
	Index   int64           `json:"index"`
	Process int64           `json:"process"`
	Type    string          `json:"type"`
	F       string          `json:"f"`
	Key     json.RawMessage `json:"key"`
	Value   json.RawMessage `json:"value"`
}

// An indeterminate operation may take effect at any time after its invocation.
const never = int64(1) << 62

const longestLine = 64 << 20

func main() {
	if len(os.Args) < 3 {
		fail("usage: peer MODEL FILE...")
	}
	model, known := models[os.Args[1]]
	if !known {
		fail("no such model: " + os.Args[1])
	}
	histories := [][]porcupine.Operation{}
	for _, path := range os.Args[2:] {
		histories = append(histories, read(path, model))
	}
	fmt.Println(`{"ready": true}`)
	for asked := bufio.NewScanner(os.Stdin); asked.Scan(); {
		invalid := 0
		started := time.Now()
		for _, history := range histories {
			if !porcupine.CheckOperations(model.checked, history) {
				invalid++
			}
		}
		fmt.Printf("{\"seconds\": %.9f, \"invalid\": %d}\n", time.Since(started).Seconds(), invalid)
	}
}

func read(path string, model model) []porcupine.Operation {
	file, err := os.Open(path)
	if err != nil {
		fail(err.Error())
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 1<<20), longestLine)
	open := map[int64]event{}
	history := []porcupine.Operation{}
	add := func(invoked event, completed *event) {
		if operation, matters := model.operation(invoked, completed); matters {
			history = append(history, operation)
		}
	}
	for lines.Scan() {
		var one event
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			fail(path + ": " + err.Error())
		}
		switch one.Type {
		case "invoke":
			open[one.Process] = one
			continue
		case "ok":
			add(open[one.Process], &one)
		case "info":
			add(open[one.Process], nil)
		}
		delete(open, one.Process)
	}
	for _, invoked := range open {
		add(invoked, nil)
	}
	return history
}

func fail(problem string) {
	fmt.Fprintln(os.Stderr, problem)
	os.Exit(3)
}
