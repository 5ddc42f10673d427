package record

import (
	"bytes"
	"fmt"
)

const knownSchema = "1"

// schemaVersion is knownSchema as a number.
var schemaVersion uint8 = 1

// SchemaError means that this version does not know the schema of a record. The value of
// the error is the schema as it is written in the record.
type SchemaError string

// Error names the schema.
func (e SchemaError) Error() string {
	return fmt.Sprintf("the file has records of schema %.20s, but this version of a2sscan knows only schema %s",
		string(e), knownSchema)
}

// CheckSchema returns a SchemaError if line is a record of an unknown schema. It looks
// at no other key.
func CheckSchema(line []byte) error {
	value, found := bytes.CutPrefix(line, []byte(`{"schema":1`))
	if found && len(value) > 0 && (value[0] == ',' || value[0] == '}') { // Append writes the schema in this form
		return nil
	}
	if schema := Find(line, "schema"); schema != nil && string(schema) != knownSchema {
		return SchemaError(schema)
	}
	return nil
}
