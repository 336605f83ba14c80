//! Nothing: the tests of this package are those of hygiene, in the edition before this workspace's.
