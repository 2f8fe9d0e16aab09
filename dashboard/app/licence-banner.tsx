// Shows on every screen that a licence has ended, to people who may see licences.
import { useEffect } from 'preact/hooks'
import { Refusal, forbidden, read } from '../api/client.ts'
import { nowMs } from '../api/clock.ts'
import { useLoad } from '../api/load.ts'
import { can, learnAgain } from '../api/session.ts'

const everyMs = 60_000

export function LicenceBanner() {
  const may = can('license:read')
  const look = async () => {
    const found = may ? await licence() : null
    await learnAgain()
    return found
  }
  const { value, reload } = useLoad(`licence ${may}`, look, everyMs)
  const endsAt = value?.valid === true ? value.expiresAt : 0
  useEffect(() => {
    // Shown when it ends, not up to a minute later.
    const leftMs = endsAt * 1_000 - nowMs()
    if (leftMs < 0 || leftMs > everyMs) return
    const timer = setTimeout(reload, leftMs + 500)
    return () => clearTimeout(timer)
  }, [endsAt, value, reload])
  const refusals = forbidden.value
  useEffect(() => {
    if (refusals > 0) reload()
  }, [refusals, reload])
  if (!value || value.valid || !value.enforced) return null
  const { reason } = value
  const rate = value.maxRps.toLocaleString()
  return (
    <div class="banner" role="status">
      {reason.charAt(0).toUpperCase() + reason.slice(1)}. What is there goes on, with {rate} queries
      a second; what needs a licence is refused. <a href="#/r/license">Licence</a>
    </div>
  )
}

async function licence() {
  try {
    return await read('/api/v1/license')
  } catch (error) {
    // An older node, or a role that has changed meanwhile.
    if (error instanceof Refusal) return null
    throw error
  }
}
