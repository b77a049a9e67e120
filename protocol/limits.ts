/** More header fields than any command has; a bound on what a hostile header can make us build. */
export const EXT_FIELDS_MAX = 512;
