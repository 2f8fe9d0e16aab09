// A line chart that grows as new points come, drawn by uPlot, which is loaded with the first one.
import { useEffect, useRef } from 'preact/hooks'
import type { Series } from './plot.ts'
import { isDark } from './theme.ts'

interface ChartProps {
  readonly label: string
  readonly series: readonly Series[]
  /** Unix seconds, then a row of values for each series. */
  readonly data: readonly (readonly (number | null)[])[]
}

interface Plot {
  setData(data: unknown): void
  setSize(size: { width: number; height: number }): void
  destroy(): void
}

const height = 200

export function Chart({ label, series, data }: ChartProps) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<Plot | null>(null)
  const latest = useRef(data)
  const theme = isDark.value
  latest.current = data
  useEffect(() => {
    let isHere = true
    let watcher: ResizeObserver | undefined
    void import('./plot.ts').then(({ drawPlot }) => {
      const element = box.current
      if (!isHere || element === null) return
      plot.current = drawPlot(element, series, latest.current, height)
      watcher = new ResizeObserver(() =>
        plot.current?.setSize({ width: element.clientWidth, height }),
      )
      watcher.observe(element)
    })
    return () => {
      isHere = false
      watcher?.disconnect()
      plot.current?.destroy()
      plot.current = null
    }
    // Its colours are those of the theme it was drawn in.
  }, [series, theme])
  useEffect(() => plot.current?.setData(data), [data])
  return <div class="chart" ref={box} role="img" aria-label={label} />
}
