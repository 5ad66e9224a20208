package main

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"
)

// A model of ours in Porcupine's terms. A call without an answer, unknown, is legal in every state:
// one that never took effect stands at the end, where nothing can tell.
type model struct {
	checked porcupine.Model
	// Of the raw values of invocation and completion; the latter is nil if there was none.
	input  func(f string, value json.RawMessage) interface{}
	output func(f string, value json.RawMessage) interface{}
	// Functions that constrain nothing when they are not answered.
	pure map[string]bool
}

func (m model) operation(invoked event, completed *event) (porcupine.Operation, bool) {
	operation := porcupine.Operation{
		Input:  keyed{string(invoked.Key), m.input(invoked.F, invoked.Value)},
		Call:   invoked.Index,
		Return: never,
	}
	if completed != nil {
		operation.Return = completed.Index
		operation.Output = m.output(invoked.F, completed.Value)
	}
	return operation, completed != nil || !m.pure[invoked.F]
}

type keyed struct {
	key   string
	input interface{}
}

func byKey(history []porcupine.Operation) [][]porcupine.Operation {
	places := map[string]int{}
	parts := [][]porcupine.Operation{}
	for _, operation := range history {
		key := operation.Input.(keyed).key
		place, known := places[key]
		if !known {
			place = len(parts)
			places[key] = place
			parts = append(parts, nil)
		}
		parts[place] = append(parts[place], operation)
	}
	return parts
}

type step func(state, input, output interface{}) (bool, interface{})

func modelOf(initial interface{}, step step) porcupine.Model {
	return porcupine.Model{
		Partition: byKey,
		Init:      func() interface{} { return initial },
		Step: func(state, input, output interface{}) (bool, interface{}) {
			return step(state, input.(keyed).input, output)
		},
	}
}

var models = map[string]model{
	"cas-register": {modelOf(null, registerStep), registerInput, answer, map[string]bool{"read": true}},
	"kv-append":    {modelOf("", appendStep), appendInput, text, map[string]bool{"get": true}},
	"counter":      {modelOf(0, counterStep), numberInput, answer, map[string]bool{"read": true}},
	"queue":        {modelOf("", queueStep), numberInput, answer, nil},
	"set":          {modelOf("", setStep), numberInput, elements, map[string]bool{"read": true}},
	"list-append":  {modelOf("", listStep), numberInput, list, map[string]bool{"read": true}},
}

const null = -1 << 62

// What an operation answered; true where it only says that it is done.
func answer(f string, value json.RawMessage) interface{} {
	if f == "read" || f == "dequeue" || f == "add-and-get" {
		return number(value)
	}
	return true
}

func number(value json.RawMessage) int {
	if string(value) == "null" || len(value) == 0 {
		return null
	}
	found, err := strconv.Atoi(string(value))
	if err != nil {
		fail("not an integer: " + string(value))
	}
	return found
}

type call struct {
	f        string
	old, new int
}

func numberInput(f string, value json.RawMessage) interface{} {
	if f == "read" || f == "dequeue" {
		return call{f: f}
	}
	return call{f: f, new: number(value)}
}

func registerInput(f string, value json.RawMessage) interface{} {
	if f != "cas" {
		return numberInput(f, value)
	}
	var pair [2]int
	if err := json.Unmarshal(value, &pair); err != nil {
		fail(err.Error())
	}
	return call{f, pair[0], pair[1]}
}

func registerStep(state, input, output interface{}) (bool, interface{}) {
	asked := input.(call)
	switch asked.f {
	case "read":
		return output == state, state
	case "write":
		return true, asked.new
	}
	if state == asked.old {
		return true, asked.new
	}
	return output == nil, state
}

func counterStep(state, input, output interface{}) (bool, interface{}) {
	asked := input.(call)
	if asked.f == "read" {
		return output == state, state
	}
	sum := state.(int) + asked.new
	return asked.f == "add" || output == nil || output == sum, sum
}

type textCall struct{ f, value string }

func text(_ string, value json.RawMessage) interface{} {
	var found *string
	if err := json.Unmarshal(value, &found); err != nil {
		fail(err.Error())
	}
	if found == nil {
		return ""
	}
	return *found
}

func appendInput(f string, value json.RawMessage) interface{} {
	if f == "get" {
		return textCall{f: f}
	}
	return textCall{f, text(f, value).(string)}
}

func appendStep(state, input, output interface{}) (bool, interface{}) {
	asked := input.(textCall)
	switch asked.f {
	case "get":
		return output == state, state
	case "put":
		return true, asked.value
	}
	return true, state.(string) + asked.value
}

// The state of a queue is its elements, each ended by a comma.
func queueStep(state, input, output interface{}) (bool, interface{}) {
	asked, elements := input.(call), state.(string)
	if asked.f == "enqueue" {
		return true, elements + strconv.Itoa(asked.new) + ","
	}
	first, rest, some := strings.Cut(elements, ",")
	if !some {
		return output == nil || output == null, elements
	}
	return output == nil || strconv.Itoa(output.(int)) == first, rest
}

// The state of a set is one byte an element, 1 if it is in.
func setStep(state, input, output interface{}) (bool, interface{}) {
	asked, members := input.(call), state.(string)
	if asked.f == "read" {
		return output == members, members
	}
	return true, withElement(members, asked.new)
}

func withElement(members string, element int) string {
	if element >= len(members) {
		members += strings.Repeat("\x00", element-len(members)+1)
	}
	return members[:element] + "\x01" + members[element+1:]
}

func elements(f string, value json.RawMessage) interface{} {
	if f != "read" {
		return ""
	}
	var found []int
	if err := json.Unmarshal(value, &found); err != nil {
		fail(err.Error())
	}
	members := []byte{}
	for _, element := range found {
		for len(members) <= element {
			members = append(members, 0)
		}
		members[element] = 1
	}
	return string(members)
}

// The state of a list is its elements, each ended by a comma.
func listStep(state, input, output interface{}) (bool, interface{}) {
	asked, list := input.(call), state.(string)
	if asked.f == "append" {
		return true, list + strconv.Itoa(asked.new) + ","
	}
	return output == list, list
}

func list(f string, value json.RawMessage) interface{} {
	inside := strings.Trim(string(value), "[]")
	if f != "read" || inside == "" {
		return ""
	}
	return inside + ","
}
