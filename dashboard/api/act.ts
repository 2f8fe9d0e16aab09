// A hook for what a reader starts: whether it is under way, and why the last try failed.
import { useState } from 'preact/hooks'
import { sentence } from './client.ts'

interface Acting {
  readonly isBusy: boolean
  /** A sentence; empty: there is none. */
  readonly fault: string
  readonly setFault: (fault: string) => void
  /** @returns whether it went well */
  readonly act: (work: () => Promise<unknown>) => Promise<boolean>
}

export function useAct(): Acting {
  const [fault, setFault] = useState('')
  const [isBusy, setBusy] = useState(false)
  const act = async (work: () => Promise<unknown>): Promise<boolean> => {
    setBusy(true)
    setFault('')
    try {
      await work()
      return true
    } catch (error) {
      setFault(sentence(error))
      return false
    } finally {
      setBusy(false)
    }
  }
  return { isBusy, fault, setFault, act }
}
