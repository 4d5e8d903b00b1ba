(function () {
  "use strict";
  var data = JSON.parse(document.getElementById("data").textContent);
  var select = document.getElementById("point");
  var body = document.getElementById("told");
  var heading = document.getElementById("told-name");
  document.documentElement.classList.add("js");

  function show(index) {
    var point = data.points[index];
    heading.textContent = point.name;
    body.textContent = "";
    data.titles.forEach(function (title, row) {
      var tr = document.createElement("tr");
      var th = document.createElement("th");
      th.scope = "row";
      th.textContent = title;
      tr.appendChild(th);
      [data.baseline[row], data.candidate[row], point.values[row], point.ends[row]].forEach(function (text) {
        var td = document.createElement("td");
        td.className = "num";
        td.textContent = text;
        tr.appendChild(td);
      });
      body.appendChild(tr);
    });
    document.querySelectorAll(".plane [data-i]").forEach(function (dot) {
      dot.classList.toggle("picked", dot.getAttribute("data-i") === String(index));
    });
    select.value = String(index);
  }

  select.addEventListener("change", function () { show(Number(select.value)); });
  document.querySelector(".plane svg").addEventListener("click", function (event) {
    var dot = event.target.closest("[data-i]");
    if (dot) { show(Number(dot.getAttribute("data-i"))); }
  });
  show(Number(select.getAttribute("data-start")));
}());
