package main

// shipTasks are about sailings, timetables and manifests.
func shipTasks() []task {
	return []task{
		{
			ticket: "FER-109",
			ask:    "FER-109: paging through sailings skips some. If two boats leave at exactly the same minute (Saturdays 08:00 HAR-SKA and HAR-LOM), one of them is missing when the page ends between them. The app team sees it with page_size=20.",
			plan:   []string{"Read the listing of sailings and the cursor", "Reproduce with equal departure times", "Put the id into the cursor", "Keep old page tokens working for a day"},
			think:  "Cursor by departs_at only, comparing with >: the second of two equal times is skipped. Keyset paging needs a unique tie-breaker. Old tokens in the wild: the app keeps them for minutes, but the public API should not answer 422 to them during a deploy.",
			reads:  []string{"internal/search/http.go"},
			grep:   "page_token",
			look:   &look{command: "curl -s 'localhost:8080/v1/sailings?state=planned&page_size=20' | jq -r '.items[] | [.id, .route, .departs_at] | @tsv'", output: sailingPage},
			file:   "internal/sailing/service.go",
			before: `// Upcoming lists sailings in the order of their departure.
func (s *Service) Upcoming(ctx context.Context, after time.Time, limit int) ([]*Sailing, error) {
	return s.store.query(ctx, ` + "`WHERE departs_at > $1 ORDER BY departs_at LIMIT $2`" + `, after, limit)
}`,
			wrong: `// Upcoming lists sailings in the order of their departure.
func (s *Service) Upcoming(ctx context.Context, after time.Time, id string, limit int) ([]*Sailing, error) {
	return s.store.query(ctx,
		` + "`WHERE departs_at >= $1 AND id > $2 ORDER BY departs_at, id LIMIT $3`" + `, after, id, limit)
}`,
			right: `// Upcoming lists sailings in the order of their departure, and of their ids where several leave at once. A cursor of
// an old token has no id, which sorts before all others: such a page may repeat a sailing, but skips none.
func (s *Service) Upcoming(ctx context.Context, after time.Time, id string, limit int) ([]*Sailing, error) {
	return s.store.query(ctx,
		` + "`WHERE (departs_at, id) > ($1, $2) ORDER BY departs_at, id LIMIT $3`" + `, after, id, limit)
}`,
			finding:  "`Upcoming` pages by departs_at alone with `>`, so of two sailings at 08:00:00 the one behind the page's end is skipped. The cursor needs the id as a tie-breaker.",
			test:     "TestUpcomingSkipsNoSailing",
			testFile: "internal/sailing/model_test.go",
			testCode: `func TestUpcomingSkipsNoSailing(t *testing.T) {
	service := newTestService(t)
	eight := time.Date(2026, 7, 11, 8, 0, 0, 0, time.UTC)
	for i, departs := range []time.Time{eight, eight, eight.Add(time.Hour), eight, eight.Add(-time.Hour)} {
		service.plan(t, fmt.Sprintf("sai_%d", 9-i), departs)
	}
	for size := 1; size <= 6; size++ {
		var seen []string
		after, id := time.Time{}, ""
		for {
			page, err := service.Upcoming(t.Context(), after, id, size)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			for _, x := range page {
				seen = append(seen, x.ID)
			}
			after, id = page[len(page)-1].DepartsAt, page[len(page)-1].ID
		}
		if want := []string{"sai_5", "sai_6", "sai_8", "sai_9", "sai_7"}; !slices.Equal(seen, want) {
			t.Errorf("pages of %d: %v, want %v", size, seen, want)
		}
	}
}`,
			failure: "    model_test.go:164: pages of 1: [sai_5 sai_6 sai_8 sai_9], want [sai_5 sai_6 sai_8 sai_9 sai_7]\n    model_test.go:164: pages of 2: [sai_5 sai_6 sai_8 sai_9], want [sai_5 sai_6 sai_8 sai_9 sai_7]",
			insight: "Of course: `departs_at >= $1 AND id > $2` filters on the id at every departure time, so sai_7 at 09:00 is lost because its id is smaller than sai_9's. Both must be compared as a row: `(departs_at, id) > ($1, $2)`, which PostgreSQL also answers from the index on (departs_at, id).",
			done:    "FER-109: sailings are paged by (departs_at, id), compared as a row. Old page tokens carry no id and may repeat one sailing, but none is skipped. Covered for pages of 1 to 6.",
			commit:  "Page through sailings by departure and id",
		},
		{
			ticket: "FER-133",
			ask:    "FER-133: the timetable import for the summer season takes 11 minutes and blocks the sailings table meanwhile. It was seconds last year. 18,400 sailings, if that helps. It may take a minute, but selling must go on.",
			plan:   []string{"Look at the query plan of the import", "Read the import code", "Import in batches of short transactions", "Add the missing index as migration 0042, concurrently", "Measure"},
			think:  "11 minutes for 18,400 rows is 36 ms a row: a sequential scan per row probably, N+1. And one transaction around all. Look at the plan first.",
			reads:  []string{"internal/sailing/store.go"},
			grep:   "InTx(",
			look:   &look{command: "psql ferry -c \"EXPLAIN (ANALYZE, BUFFERS) SELECT id FROM sailings WHERE route = 'HAR-SKA' AND departs_at = '2026-07-04 06:30+00'\"", output: queryPlan},
			file:   "internal/timetable/service.go",
			before: `// Import makes the sailings of a season.
func (s *Service) Import(ctx context.Context, plan []Departure) error {
	return s.store.pool.InTx(ctx, func(ctx context.Context) error {
		for _, d := range plan {
			known, err := s.store.hasSailing(ctx, d.Route, d.At)
			if err != nil {
				return err
			}
			if known {
				continue
			}
			if err := s.store.insertSailing(ctx, d); err != nil {
				return err
			}
		}
		return nil
	})
}`,
			wrong: `// batch is how many sailings a transaction makes: few enough that nobody waits for them.
const batch = 200

// Import makes the sailings of a season that are not there yet.
func (s *Service) Import(ctx context.Context, plan []Departure) error {
	for part := range slices.Chunk(plan, batch) {
		err := s.store.pool.InTx(ctx, func(ctx context.Context) error {
			return s.store.insertSailings(ctx, part)
		})
		if err != nil {
			return err
		}
	}
	return nil
}`,
			right: `// batch is how many sailings a transaction makes: few enough that nobody waits for them.
const batch = 200

// Import makes the sailings of a season that are not there yet, in short transactions in the order of their departure.
// One that is broken off has made a part of them, and the next one makes the rest: insertSailings leaves out what is
// there, by the unique index on (route, departs_at) of migration 0042.
func (s *Service) Import(ctx context.Context, plan []Departure) (made int, err error) {
	plan = slices.Clone(plan)
	slices.SortFunc(plan, func(a, b Departure) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Route, b.Route))
	})
	plan = slices.CompactFunc(plan, func(a, b Departure) bool { return a.Route == b.Route && a.At.Equal(b.At) })
	for part := range slices.Chunk(plan, batch) {
		var n int
		err := s.store.pool.InTx(ctx, func(ctx context.Context) (err error) {
			n, err = s.store.insertSailings(ctx, part)
			return err
		})
		if err != nil {
			return made, fmt.Errorf("timetable: import after %d sailings: %w", made, err)
		}
		made += n
	}
	return made, nil
}`,
			finding:  "Two things: `hasSailing` scans all 214,000 sailings for each row of the plan (Seq Scan, 34.9 ms), since there is no index on (route, departs_at); and all happens in one transaction, whose row locks the desks wait for. I'll insert in batches of 200 with ON CONFLICT DO NOTHING, on a unique index that migration 0042 builds CONCURRENTLY.",
			test:     "TestImportMayBeBrokenOffAndRepeated",
			testFile: "internal/timetable/model_test.go",
			testCode: `func TestImportMayBeBrokenOffAndRepeated(t *testing.T) {
	service := newTestService(t)
	plan := season(t, "2026-summer", 1000)
	plan = append(plan, plan[7]) // the planners' file has doubles
	ctx, cancel := context.WithCancel(t.Context())
	service.afterBatch(3, cancel)
	made, err := service.Import(ctx, plan)
	if !errors.Is(err, context.Canceled) || made != 600 {
		t.Fatalf("broken off: made %d, %v", made, err)
	}
	made, err = service.Import(t.Context(), plan)
	if err != nil || made != 400 {
		t.Errorf("again: made %d, %v", made, err)
	}
	if n := service.sailings(t); n != 1000 {
		t.Errorf("%d sailings", n)
	}
}`,
			failure: "    model_test.go:88: assignment mismatch: 2 variables but service.Import returns 1 value\n    ERROR: ON CONFLICT DO UPDATE command cannot affect row a second time (SQLSTATE 21000)\nFAIL\ttidewater.example/ferry/internal/timetable [build failed]",
			insight: "The import should say how many it made, or nobody can tell a broken-off one from a whole one. And the doubles in the planners' file hit the same batch: they must be removed before, after sorting. Sorting also makes all imports lock in the same order.",
			done:    "FER-133: the import runs in transactions of 200 sailings, can be broken off and repeated, and no desk waits longer than a batch. Measured on a copy of production: 18,400 sailings in 6.2 s (was 11 min 4 s), longest lock 41 ms. Migration 0042 adds `sailings_route_departs_at_key` UNIQUE, built CONCURRENTLY; it must be deployed before the code.",
			asides: []aside{{
				user:   "What if there are doubles in the table already, then the unique index won't build?",
				look:   &look{command: "psql ferry -c \"SELECT route, departs_at, count(*), array_agg(id) FROM sailings GROUP BY 1, 2 HAVING count(*) > 1\"", output: doubleSailings},
				answer: "There are two pairs of doubles, all four cancelled and without holds. Migration 0042 must move them away first: I suggest `departs_at + interval '1 second'` for the newer of each pair, which keeps ids and history. I have put that as the first statement of the migration, with a comment. Please have ops look at it before it runs.",
			}},
			commit: "Import timetables in batches, on a unique index",
		},
		{
			ticket: "FER-115",
			ask:    "FER-115 is about the manifest export. The harbour master opens the CSV in Excel: names like Bjørn Åsgård are garbled, and a passenger called =HYPERLINK(...) made their IT call us. Yes, really. The columns must stay as they are, an old mainframe reads them too.",
			plan:   []string{"Read the export", "Write UTF-8 with a byte order mark", "Defuse cells that a spreadsheet would run", "Ask whether the mainframe copes with the mark"},
			think:  "CSV injection: cells beginning with =, +, -, @, tab or CR. Common defence: a leading apostrophe. But phone numbers begin with +, and the mainframe reads the columns. BOM for Excel could break the mainframe. Needs a question.",
			reads:  []string{"internal/sailing/model.go"},
			grep:   "csv",
			file:   "internal/manifest/service.go",
			before: `// Export writes the manifest for the harbour master.
func Export(w io.Writer, people []Person) error {
	for _, p := range people {
		fmt.Fprintf(w, "%s;%s;%s;%s\n", p.Family, p.Given, p.Nation, p.Phone)
	}
	return nil
}`,
			wrong: `// Export writes the manifest for the harbour master: UTF-8, with the mark that Excel knows it by.
func Export(w io.Writer, people []Person) error {
	if _, err := io.WriteString(w, "\ufeff"); err != nil {
		return err
	}
	out := csv.NewWriter(w)
	out.Comma = ';'
	for _, p := range people {
		if err := out.Write([]string{safe(p.Family), safe(p.Given), p.Nation, safe(p.Phone)}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// safe keeps a spreadsheet from taking a cell for a formula.
func safe(cell string) string {
	if strings.ContainsAny(cell[:1], "=+-@") {
		return "'" + cell
	}
	return cell
}`,
			right: `// Export writes the manifest for the harbour master: UTF-8, with the mark that Excel knows it by unless the authority
// reads it by machine.
func Export(w io.Writer, people []Person, forMachine bool) error {
	if !forMachine {
		if _, err := io.WriteString(w, "\ufeff"); err != nil {
			return err
		}
	}
	out := csv.NewWriter(w)
	out.Comma = ';'
	out.UseCRLF = true
	for _, p := range people {
		phone := p.Phone
		if !isPhone(phone) {
			phone = safe(phone)
		}
		if err := out.Write([]string{safe(p.Family), safe(p.Given), safe(p.Nation), phone}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// safe keeps a spreadsheet from taking a cell for a formula, also behind white space, which it ignores.
func safe(cell string) string {
	switch trimmed := strings.TrimLeft(cell, " \t\r\n"); {
	case trimmed == "":
		return ""
	case strings.ContainsAny(trimmed[:1], "=+-@"):
		return "'" + trimmed
	default:
		return cell
	}
}

// isPhone lets +47 22 33 44 55 through: digits and spaces behind the sign cannot call anything.
func isPhone(cell string) bool {
	return len(cell) > 1 && cell[0] == '+' && strings.Trim(cell[1:], "0123456789 ") == ""
}`,
			finding:  "`Export` prints with Fprintf: no quoting, no byte order mark, cells as they come. I'll write through encoding/csv with the mark, and defuse cells that begin with =, +, - or @.",
			test:     "TestExportIsSafeInSpreadsheets",
			testFile: "internal/manifest/model_test.go",
			testCode: `func TestExportIsSafeInSpreadsheets(t *testing.T) {
	people := []Person{
		{"Åsgård", "Bjørn", "NO", "+47 22 33 44 55"},
		{"=HYPERLINK(\"http://x\")", " @SUM(A1)", "GB", "+1+cmd|' /C calc'!A0"},
		{"", "Cher; the one", "US", ""},
	}
	var out strings.Builder
	if err := Export(&out, people, false); err != nil {
		t.Fatal(err)
	}
	want := "\ufeffÅsgård;Bjørn;NO;+47 22 33 44 55\r\n" +
		"\"'=HYPERLINK(\"\"http://x\"\")\";'@SUM(A1);GB;'+1+cmd|' /C calc'!A0\r\n" +
		";\"Cher; the one\";US;\r\n"
	if out.String() != want {
		t.Errorf("got\n%q, want\n%q", out.String(), want)
	}
}`,
			failure: "panic: runtime error: slice bounds out of range [:1] with length 0 [recovered]\n\tpanic: runtime error: slice bounds out of range [:1] with length 0\n\ngoroutine 19 [running]:\ntidewater.example/ferry/internal/manifest.safe(...)\n\t/home/user/ferry/internal/manifest/service.go:148\ntidewater.example/ferry/internal/manifest.Export({0x7d3b20, 0xc0000a41e0}, {0xc000061e68, 0x3, 0x3})\n\t/home/user/ferry/internal/manifest/service.go:137 +0x1e5",
			insight: "An empty name panics, and passengers with one name exist. The test also wants white space in front of a formula handled (Excel skips it), real phone numbers left alone, and CRLF as the mainframe has it. I'll do all of it, with a switch for authorities that read by machine and would stumble over the mark.",
			done:    "FER-115: the export is UTF-8 with a byte order mark, quoted properly, CRLF, and cells that a spreadsheet would run get an apostrophe; phone numbers stay. Open question: does the mainframe at HM-HAR cope with the mark? Until we know, `forMachine` leaves it out, and I set it for HM-HAR only.",
			asides: []aside{{
				user:   "I asked: the mainframe does not cope with the mark, so your switch is right. HM-SKA reads by machine as well. Their code for us is TWF-0094, you may need it later.",
				answer: "Good. HM-SKA gets `forMachine` too. I noted the code TWF-0094 for the harbour master's interface.",
			}},
			commit: "Write manifests that spreadsheets read and do not run",
		},
	}
}
