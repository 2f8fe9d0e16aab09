// Defines the RUM beacon: the script by which pages measure members in their visitors' browsers.

/** How many of its targets a page view measures. */
const targetsPerView = 8

/**
 * Plain JavaScript, sent as it is. One request for each target opens the connection, then two are
 * timed: the faster one is the latency. The response is not read, so the target needs no CORS;
 * samples are sent as text/plain, so that they need no preflight.
 */
export const rumScript = `'use strict'
;(() => {
  const script = document.currentScript
  const domain = script && script.dataset.domain
  if (!domain || !window.fetch || !window.AbortController) return
  if (navigator.connection && navigator.connection.saveData) return
  const url = (path) => new URL(path, script.src).href
  const config = url('rum/config') + '?domain=' + encodeURIComponent(domain)
  const ingest = url('rum/ingest')

  // Once in ten minutes for each tab: a measurement counts for thirty.
  const isDue = () => {
    try {
      const key = 'gslbd-rum ' + domain
      const isRecent = Date.now() - Number(sessionStorage.getItem(key)) < 600000
      if (!isRecent) sessionStorage.setItem(key, String(Date.now()))
      return !isRecent
    } catch {
      return true
    }
  }

  const get = async (url) => {
    const stop = new AbortController()
    const timer = setTimeout(() => stop.abort(), 5000)
    try {
      const startMs = performance.now()
      await fetch(url, {
        mode: 'no-cors',
        cache: 'no-store',
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
        signal: stop.signal,
      })
      return performance.now() - startMs
    } finally {
      clearTimeout(timer)
    }
  }

  const measure = async ({ ip, rumUrl }) => {
    await get(rumUrl)
    const fastestMs = Math.min(await get(rumUrl), await get(rumUrl))
    return { ip, latencyMs: Math.max(Math.round(fastestMs * 10) / 10, 0.1) }
  }

  const run = async () => {
    if (!isDue()) return
    const answer = await fetch(config, { credentials: 'omit', referrerPolicy: 'no-referrer' })
    const { targets } = await answer.json()
    const chosen = targets
      .map((target) => [Math.random(), target])
      .sort((a, b) => a[0] - b[0])
      .slice(0, ${targetsPerView})
    const samples = []
    for (const [, target] of chosen) {
      if (document.hidden) break
      try {
        samples.push(await measure(target))
      } catch {
        // The target does not answer, or the page may not ask it: it has no sample.
      }
    }
    if (samples.length === 0) return
    // Not sendBeacon, which sends cookies and the page's address.
    await fetch(ingest, {
      method: 'POST',
      mode: 'no-cors',
      keepalive: true,
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      body: JSON.stringify({ domain, samples }),
    })
  }

  // A tab that was opened behind another one, or a page made ahead, waits until it is seen.
  const begin = () => {
    if (!document.hidden) return run().catch(() => undefined)
    document.addEventListener('visibilitychange', begin, { once: true })
  }
  const later = () => setTimeout(begin, 1000)
  if (document.readyState === 'complete') later()
  else window.addEventListener('load', later, { once: true })
})()
`
