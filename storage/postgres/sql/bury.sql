DELETE FROM dead WHERE ordinal = @ordinal
