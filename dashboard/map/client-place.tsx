// Chooses the client of a trace by its country: on the map, or in the list.
import { useState } from 'preact/hooks'
import { useAct } from '../api/act.ts'
import { read } from '../api/client.ts'
import { placeOf, placesOfCountries } from './places.ts'
import { WorldMap } from './world-map.tsx'
import type { Mark } from './world-map.tsx'
import { Fault } from '../parts/page.tsx'
import { to } from '../parts/location.ts'

const names = new Intl.DisplayNames(undefined, { type: 'region' })
export const nameOfCountry = (code: string): string => names.of(code) ?? code

interface PlaceProps {
  /** A network of clients there. */
  readonly choose: (subnet: string) => void
}

export function ClientPlace({ choose }: PlaceProps) {
  const [country, setCountry] = useState('')
  const { fault, act } = useAct()
  const pick = (code: string) =>
    act(async () => {
      setCountry(code)
      if (code === '') return choose('')
      const { subnet } = await read('/api/v1/simulate/clients/{country}', { country: code })
      choose(subnet)
    })
  return (
    <details class="client-place">
      <summary>Choose the client on the map</summary>
      <div class="stack">
        <div class="field">
          <label for="trace-country">Country of the client</label>
          <select
            id="trace-country"
            value={country}
            onChange={({ currentTarget }) => void pick(currentTarget.value)}
          >
            <option value="">Any</option>
            {optionsOf().map(([code, name]) => (
              <option key={code} value={code}>
                {name}
              </option>
            ))}
          </select>
        </div>
        <Fault fault={fault} />
        <WorldMap
          {...{ name: 'Where the client is', marks: marksOf(country) }}
          onCountry={(code) => void pick(code)}
        />
        <p class="hint">
          A click takes the largest network that the geo database of this node has there.
        </p>
      </div>
    </details>
  )
}

const optionsOf = (): (readonly [code: string, name: string])[] =>
  placesOfCountries()
    .map(([code]) => [code, nameOfCountry(code)] as const)
    .toSorted(([, a], [, b]) => a.localeCompare(b))

function marksOf(country: string): readonly Mark[] {
  const place = placeOf(country)
  if (place === undefined) return []
  const words = `The client is in ${nameOfCountry(country)}`
  return [{ key: country, place, count: 0, tone: 'good', words, path: to('/trace').slice(1) }]
}
