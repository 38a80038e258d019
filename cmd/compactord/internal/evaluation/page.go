package evaluation

func writePage(path string, r *Report) error { return nil }
