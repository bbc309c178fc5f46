"""From a ref to its element inside the page: small functions that run beside the injected script, in its world."""

from __future__ import annotations

import json

# Prefers the script's own way. The other asks a query for the element and looks at whose attributes it reads; both
# happen in our world, so the page sees nothing of it.
_ELEMENT_OF = """((a,r)=>{
  if(a.elementOf)return a.elementOf(r);
  const p=Element.prototype,d=Object.getOwnPropertyDescriptor(p,'attributes');let found=null;
  Object.defineProperty(p,'attributes',{configurable:true,get(){found=found||this;return d.get.call(this)}});
  try{const q=a.query(r,'attrs');return q.error?null:found}finally{Object.defineProperty(p,'attributes',d)}
})"""


def on_element(function: str, local: str) -> str:
    """An expression that applies `function` (JavaScript, of an element or null) to what the script calls `local`.

    It stands where `a` is the script's API.
    """
    return f"({function})({_ELEMENT_OF}(a,{json.dumps(local)}))"
