"""Passes over tile IR. One file per pass, named verb_object, one public function each; see `docs/add_a_pass.md`."""
