/** The language of a place in a page. */

/** By its `lang` or that of its nearest ancestor; "" where none is known. */
export function languageAt(place) {
  const meant = place.closest("[lang]");
  if (meant) return isTag(meant.lang) ? meant.lang : "";
  const { host } = place.getRootNode();
  return host ? languageAt(host) : "";
}

/** A page may name a language as no browser knows it. */
function isTag(lang) {
  try {
    return Intl.getCanonicalLocales(lang).length > 0;
  } catch {
    return false;
  }
}
