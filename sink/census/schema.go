package census

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// about describes the keys of a stats.json. A key means the same in every object.
var about = map[string]string{
	"schema":          "1; rises when the meaning of a key changes",
	"scans":           "names of the scans in the records, sorted",
	"first_record":    "earliest time of a record",
	"last_record":     "latest time of a record",
	"lost":            "what is damaged or missing, a sentence each; absent: nothing is known to be",
	"run":             "sums of the summaries of the scans; absent: there was none",
	"records":         "one per address",
	"duplicates":      "further records of an address, ignored",
	"statuses":        "records by status",
	"all":             "servers that answered",
	"without_farms":   "of these, servers in no farm",
	"games":           fmt.Sprintf("by game, the first %d", maxGames),
	"maps":            fmt.Sprintf("by game and map, the first %d", maxMaps),
	"versions":        fmt.Sprintf("by game and version, the first %d", maxVersions),
	"modes":           fmt.Sprintf("by game and mode, the first %d", maxModes),
	"systems":         fmt.Sprintf("by operating system, the first %d", maxSystems),
	"countries":       fmt.Sprintf("by ISO 3166-1 code, the first %d; unknown: servers without a known country", maxCountries),
	"networks":        fmt.Sprintf("by autonomous system, the first %d; of a farm, how many /24 networks it spans", maxNetworks),
	"round_trips_ms":  "round trip of the first question that was answered, in milliseconds",
	"capacity":        "places for people",
	"fill_percent":    "people per place",
	"questions":       "how each question was answered, of servers with any reply",
	"flags":           "servers by flag of the record",
	"farms":           "groups of servers with a verdict: clones or shared player lists",
	"stacks":          fmt.Sprintf("addresses and /24 networks with the most servers, the first %d; context, no verdict", maxStacks),
	"accounts":        fmt.Sprintf("persistent Steam IDs at several IP addresses, the first %d; context, no verdict", maxAccounts),
	"servers":         "how many servers",
	"occupied":        "servers with people",
	"people":          "people on them, as the games count them, without bots",
	"bots":            "players that are programs",
	"places":          "places for people",
	"distinct":        "how many values there are",
	"top":             "most servers first",
	"other":           "sums of the values beyond top",
	"unknown":         "sums of the servers without a value",
	"farmed":          "of these, servers in farms",
	"unchallenged":    "servers that answered without a challenge",
	"missed_estimate": "live servers that stayed silent because datagrams were lost, estimated",
	"answer_chance":   "chance that a request to a live server is answered, estimated",
	"hit_rate":        "answered of asked, from 0 to 1",
	"members":         fmt.Sprintf("addresses in numerical order, the first %d", maxMembers),
	"evidence":        "a sentence for each reason",
	"reasons":         "why it is a farm",
	"bins":            "servers with from ≤ number < to; the same bounds every night",
}

// object is a JSON object.
type object = map[string]any

// StatsSchema returns the schema of a stats.json as a JSON Schema (draft
// 2020-12). It allows keys that it does not name: later versions may add some.
func StatsSchema() []byte {
	s := schemaOf(reflect.TypeFor[Stats]())
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"], s["description"] = "a2sscan stats", "The aggregates of one census."
	b, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		panic("census: the schema: " + err.Error()) // it is made of strings and numbers
	}
	return append(b, '\n')
}

// schemaOf returns the JSON Schema for a Go type. Kinds that are not listed are
// non-negative integers.
func schemaOf(t reflect.Type) object {
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Slice:
		return object{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			return object{"type": "string", "format": "date-time"}
		}
		keys, required := object{}, []string{}
		for _, f := range reflect.VisibleFields(t) {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				continue // embedded: its fields follow
			}
			value := schemaOf(f.Type)
			if name == "schema" {
				value = object{"const": statsSchema}
			}
			if text := about[name]; text != "" {
				value["description"] = text
			}
			keys[name] = value
			if !strings.Contains(options, "omitempty") {
				required = append(required, name)
			}
		}
		return object{"type": "object", "properties": keys, "required": required}
	}
	return object{"type": "integer", "minimum": 0}
}
