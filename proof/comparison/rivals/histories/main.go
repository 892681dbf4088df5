// Porcupine over what clients saw: histories CORPORA. Prints RUN<tab>QUESTION for each history that is not linearizable.
//
// A key is written once and read at the end (audit.log). An acknowledged write happened; one that failed may happen at any
// time after its call; the audit reads whether the key is there. A run without an audit is not checked.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/anishathalye/porcupine"
)

// A line of a client's log, whatever its system.
type line struct {
	T       float64         `json:"t"`
	Event   string          `json:"event"`
	Ev      string          `json:"ev"`
	Member  string          `json:"member"`
	N       *int            `json:"n"`
	K       *int            `json:"k"`
	Key     json.RawMessage `json:"key"`
	Status  string          `json:"status"`
	Ms      float64         `json:"ms"`
	Keys    json.RawMessage `json:"keys"`
	Written string          `json:"-"`
}

func (l line) what() string { return l.Event + l.Ev }

func (l line) key(writer string) string {
	switch {
	case l.N != nil:
		return fmt.Sprintf("%s/%d", l.Member, *l.N)
	case l.K != nil:
		return fmt.Sprintf("%s-%d", writer, *l.K)
	default:
		return strings.Trim(string(l.Key), `"`)
	}
}

const (
	write = iota
	read
)

type input struct {
	op  int
	key string
}

// Each key is a register of its own that holds whether it was written.
var register = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[string][]porcupine.Operation{}
		for _, operation := range history {
			key := operation.Input.(input).key
			byKey[key] = append(byKey[key], operation)
		}
		parts := [][]porcupine.Operation{}
		for _, part := range byKey {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() interface{} { return false },
	Step: func(state, in, out interface{}) (bool, interface{}) {
		if in.(input).op == write {
			return true, true
		}
		return out.(bool) == state.(bool), state
	},
}

func lines(file string) []line {
	opened, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer opened.Close()
	var found []line
	scanner := bufio.NewScanner(opened)
	scanner.Buffer(make([]byte, 1<<20), 1<<26)
	for scanner.Scan() {
		var parsed line
		if json.Unmarshal(scanner.Bytes(), &parsed) == nil {
			if parsed.T > 1e11 { // milliseconds
				parsed.T /= 1000
			}
			found = append(found, parsed)
		}
	}
	return found
}

// What each reader of the audit found: keys of etcd by member and range, of ZooKeeper by range, of RocketMQ one by one.
func readers(audit []line) []map[string]bool {
	var found []map[string]bool
	all := map[string]bool{}
	for _, l := range audit {
		if l.what() != "has" {
			continue
		}
		var byMember map[string][][2]int
		var ranges [][2]int
		var single []int
		here := map[string]bool{}
		switch {
		case l.Keys == nil:
			all[l.key("")] = true
			continue
		case json.Unmarshal(l.Keys, &byMember) == nil:
			for member, spans := range byMember {
				fill(here, member, spans)
			}
		case json.Unmarshal(l.Keys, &ranges) == nil:
			fill(here, "", ranges)
		case json.Unmarshal(l.Keys, &single) == nil:
			for _, key := range single {
				all[fmt.Sprint(key)] = true
			}
			continue
		}
		found = append(found, here)
	}
	if len(all) > 0 {
		found = append(found, all)
	}
	return found
}

func fill(keys map[string]bool, member string, spans [][2]int) {
	for _, span := range spans {
		for n := span[0]; n <= span[1]; n++ {
			keys[fmt.Sprintf("%s/%d", member, n)] = true
		}
	}
}

func history(clients string) []porcupine.Operation {
	audits := readers(lines(filepath.Join(clients, "audit.log")))
	if len(audits) == 0 {
		return nil
	}
	var operations []porcupine.Operation
	logs, _ := filepath.Glob(filepath.Join(clients, "*.log"))
	for client, log := range logs {
		name := strings.TrimSuffix(filepath.Base(log), ".log")
		if !strings.HasPrefix(name, "writer") && !strings.HasPrefix(name, "producer") {
			continue
		}
		for _, l := range lines(log) {
			operation := porcupine.Operation{ClientId: client, Input: input{write, l.key(name)}, Output: true}
			operation.Call, operation.Return = int64((l.T-l.Ms/1000)*1e9), int64(l.T*1e9)
			switch l.what() {
			case "put", "created", "set", "sent", "send":
				if l.Status != "" && l.Status != "SEND_OK" {
					operation.Return = math.MaxInt64
				}
			case "failed", "fail", "send_failed":
				operation.Return = math.MaxInt64
			default:
				continue
			}
			operations = append(operations, operation)
		}
	}
	end := int64(0)
	for _, operation := range operations {
		if operation.Return != math.MaxInt64 && operation.Return > end {
			end = operation.Return
		}
	}
	asked := map[string]bool{}
	for _, operation := range operations {
		asked[operation.Input.(input).key] = true
	}
	for reader, has := range audits {
		for key := range asked {
			operations = append(operations, porcupine.Operation{
				ClientId: len(logs) + reader, Input: input{read, key}, Output: has[key], Call: end + 1, Return: end + 2,
			})
		}
	}
	return operations
}

func main() {
	runs, _ := filepath.Glob(filepath.Join(os.Args[1], "*", "*", "clients"))
	for _, clients := range runs {
		operations := history(clients)
		run := filepath.Join(filepath.Base(filepath.Dir(filepath.Dir(clients))), filepath.Base(filepath.Dir(clients)))
		if operations == nil {
			continue
		}
		if porcupine.CheckOperations(register, operations) {
			fmt.Fprintf(os.Stderr, "checked %s\n", run)
		} else {
			fmt.Printf("%s\tacknowledged writes lost\n", run)
		}
	}
}
