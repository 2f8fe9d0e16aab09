// Members on the map, by the place that the settings or their region give them.
import { send } from '../api/client.ts'
import { allMembers, standingOf } from '../api/live.ts'
import type { Member } from '../api/live.ts'
import { useLoad } from '../api/load.ts'
import { can } from '../api/session.ts'
import { Card, Empty } from '../parts/page.tsx'
import { ClientSummary, marksOfClients, useClientRegions } from './client-regions.tsx'
import { barOf, countsText } from '../health/health-bar.tsx'
import { placeOf } from '../map/places.ts'
import type { Place } from '../map/places.ts'
import { WorldMap } from '../map/world-map.tsx'
import type { Mark } from '../map/world-map.tsx'
import { countOf } from '../parts/formats.ts'

type Locations = Readonly<Record<string, Place>>

/** `geoip.endpointLocations` of the repository; none for whom the settings are not. */
export function useLocations(): Locations {
  const may = can('settings:read')
  const { value } = useLoad('locations', async () => {
    if (!may) return {}
    const { body } = await send('/api/v1/settings')
    const { repository } = body as { repository?: { geoip?: { endpointLocations?: Locations } } }
    return repository?.geoip?.endpointLocations ?? {}
  })
  return value ?? {}
}

interface Found {
  readonly marks: readonly Mark[]
  readonly nowhere: number
}

/** What the marks count in place of members. */
interface Measure {
  readonly of: (member: Member) => number
  /** One of them: `network`. */
  readonly one: string
}

export function marksOf(
  members: readonly Member[],
  locations: Locations,
  measure?: Measure,
): Found {
  const groups = new Map<string, { readonly place: Place; readonly members: Member[] }>()
  let nowhere = 0
  for (const member of members) {
    const place = locations[member.ipAddress] ?? placeOf(member.region)
    if (place === undefined) {
      nowhere++
      continue
    }
    const key = `${place.lon} ${place.lat}`
    const group = groups.get(key) ?? { place, members: [] }
    groups.set(key, group)
    group.members.push(member)
  }
  const marks = [...groups].map(([key, { place, members: here }]) => {
    const counts = barOf(here.map(standingOf))
    const faulty = counts.down + counts.split
    const tone =
      counts.down > 0 && counts.up === 0
        ? 'bad'
        : faulty > 0
          ? 'warn'
          : counts.up > 0
            ? 'good'
            : 'plain'
    const names = [...new Set(here.map(({ region }) => region))].slice(0, 3).join(', ')
    const count = here.reduce((sum, one) => sum + (measure?.of(one) ?? 1), 0)
    const counted = measure === undefined ? '' : `${countOf(count, measure.one)}, `
    const path = `/pools?q=${encodeURIComponent(`region:${here[0]!.region}`)}`
    return {
      key,
      place,
      count,
      tone,
      words: `${names}: ${counted}${countsText(counts)}`,
      path,
    } as const
  })
  return { marks, nowhere }
}

export function MemberMap() {
  const locations = useLocations()
  const members = allMembers()
  const { marks, nowhere } = marksOf(members, locations)
  const regions = useClientRegions()
  const clients = marksOfClients(regions)
  const all = [...clients, ...marks]
  if (members.length === 0) return null
  return (
    <Card
      title="Where members and clients are"
      aside={<MapLegend hasClients={clients.length > 0} />}
    >
      {all.length === 0 ? (
        <Empty title="No member has a place yet">
          Give members a region that is a country code, such as DE, or set the places of addresses
          in geoip.endpointLocations of the settings.
        </Empty>
      ) : (
        <WorldMap name="Members and clients by place" marks={all} />
      )}
      {marks.length > 0 && nowhere > 0 && (
        <p class="hint">
          {nowhere} of {members.length} members are not on the map: their region names no country.
        </p>
      )}
      <ClientSummary regions={regions} />
    </Card>
  )
}

function MapLegend({ hasClients }: { hasClients: boolean }) {
  return (
    <ul class="plain legend" aria-label="Colours">
      <li class="good">all up</li>
      <li class="warn">some down</li>
      <li class="bad">all down</li>
      {hasClients && <li class="clients">clients</li>}
    </ul>
  )
}
