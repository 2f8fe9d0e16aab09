// Says on every screen that a licence is over, to whoever may see licences.
import { Refusal, read } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { can } from '../api/session.ts'

const everyMs = 60_000

export function LicenceBanner() {
  const may = can('license:read')
  const { value } = useLoad(`licence ${may}`, async () => (may ? licence() : null), everyMs)
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
    // An older node, or a role that was changed meanwhile.
    if (error instanceof Refusal) return null
    throw error
  }
}
