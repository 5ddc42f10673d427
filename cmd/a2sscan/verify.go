package main

import (
	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
)

func (a *app) verifyCommand() *cobra.Command {
	var summary string
	cmd := &cobra.Command{
		Use:   "verify CENSUS…",
		Short: "Check that a census is complete and undamaged",
		Long: `Reads the files of a census to the end and compares them with the summary that
the scan wrote: the length, hash and number of records of each file, and the
counts of the scan. Without a summary it checks what the files themselves show:
the checksums of compressed frames, the schema of each record, and that no
address has two records of one scan. Hashes reveal damage, not forgery.

The exit code is 0 only if the census is complete and undamaged. It is 8 if
anything is damaged or missing, if a scan did not end, or if there is no summary
to show that the census is complete. With scan --append, the new summary also
says how the earlier scans ended. verify reports the records of a scan that no
summary describes, such as a scan that was killed.

Several files are read as one census: name all parts that scan --rotate wrote.
verify prints the ID and the start of each scan, so that you do not mistake the
census of an earlier night for tonight's. To publish only what tonight's scan
wrote, join the commands: a2sscan scan … && a2sscan verify … && publish.`,
		Example: `  a2sscan verify census.ndjson.zst
  a2sscan verify census-20261120T030000Z-*.ndjson.zst
  a2sscan verify --summary old.summary.json moved.ndjson.zst`,
		Args: wantArgs(1, 0, "verify needs a file", "a2sscan verify census.ndjson.zst"),
		RunE: func(_ *cobra.Command, args []string) error { return censusfile.Verify(a.term, a.out, args, summary) },
	}
	cmd.Flags().StringVar(&summary, "summary", "",
		"read the summary of the scan from `FILE` (default: the one beside the census, if there is one)")
	return cmd
}
